// Our own tests, on the built package, which they import by its name as users do.
export default {
  testEnvironment: "node",
  testMatch: ["<rootDir>/tests/js/**/*.test.mjs"],
  transform: { "/tests/js/.*\\.mjs$": "<rootDir>/tests/js/transform.mjs" },
  // Kept from run to run, wherever a run has its files.
  cacheDirectory: "<rootDir>/build/jest",
  testSequencer: "<rootDir>/tests/js/long-first.cjs",
  moduleFileExtensions: ["mjs", "cjs", "js", "json", "node"],
  modulePathIgnorePatterns: ["<rootDir>/build/", "<rootDir>/.toolchain/"],
  // Many start processes, which take their time on a busy machine.
  testTimeout: 60_000,
};
