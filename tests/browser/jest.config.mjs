// Tests that run the built package in a real Chromium.
export default {
  rootDir: "../..",
  testEnvironment: "node",
  testMatch: ["<rootDir>/tests/browser/**/*.test.mjs"],
  transform: {},
  moduleFileExtensions: ["mjs", "cjs", "js", "json", "node"],
  modulePathIgnorePatterns: ["<rootDir>/build/", "<rootDir>/.toolchain/"],
  testTimeout: 300_000,
};
