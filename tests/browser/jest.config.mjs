// Tests that run the built package in real browsers.

import { isLong } from "../js/support/effort.mjs";

export default {
  rootDir: "../..",
  testEnvironment: "node",
  testMatch: ["<rootDir>/tests/browser/**/*.test.mjs"],
  // Some 300 MB are fetched for it.
  testPathIgnorePatterns: isLong ? [] : ["/frameworks\\.test\\.mjs$"],
  // Kept from run to run, wherever a run has its files.
  cacheDirectory: "<rootDir>/build/jest",
  testSequencer: "<rootDir>/tests/js/long-first.cjs",
  transform: {},
  moduleFileExtensions: ["mjs", "cjs", "js", "json", "node"],
  modulePathIgnorePatterns: ["<rootDir>/build/", "<rootDir>/.toolchain/"],
  testTimeout: 300_000,
};
