// Only the official checkpointer specification runs on vitest; our own tests run on Jest. It
// also runs in other runtimes, over the SQLite that they bring: KEEPSAKE_CONNECTION names it.
const folder = process.env.KEEPSAKE_CONNECTION ? "runtimes" : "validation";

export default {
  test: {
    globals: true,
    testTimeout: 60_000,
    include: [`tests/${folder}/*.test.mjs`],
    reporters: ["default", "./tests/validation/complete-reporter.mjs"],
  },
};
