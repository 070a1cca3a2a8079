// Only the official checkpointer specification runs on vitest; our own tests run on Jest.
export default {
  test: {
    globals: true,
    include: ["tests/validation/*.test.mjs"],
    reporters: ["default", "./tests/validation/complete-reporter.mjs"],
  },
};
