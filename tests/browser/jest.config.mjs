// Tests that run the built package in real browsers.
export default {
  rootDir: "../..",
  testEnvironment: "node",
  testMatch: ["<rootDir>/tests/browser/**/*.test.mjs"],
  testSequencer: "<rootDir>/tests/browser/support/longest-first.mjs",
  transform: {},
  moduleFileExtensions: ["mjs", "cjs", "js", "json", "node"],
  modulePathIgnorePatterns: ["<rootDir>/build/", "<rootDir>/.toolchain/"],
  testTimeout: 300_000,
};
