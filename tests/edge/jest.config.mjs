// Tests that run the packed package in workerd (Cloudflare), Deno and Bun.
export default {
  rootDir: "../..",
  testEnvironment: "node",
  globalSetup: "<rootDir>/tests/edge/support/install.mjs",
  globalTeardown: "<rootDir>/tests/edge/support/uninstall.mjs",
  testMatch: ["<rootDir>/tests/edge/**/*.test.mjs"],
  // Kept from run to run, wherever a run has its files.
  cacheDirectory: "<rootDir>/build/jest",
  testSequencer: "<rootDir>/tests/js/long-first.cjs",
  transform: { "/tests/(js|edge)/.*\\.mjs$": "<rootDir>/tests/js/transform.mjs" },
  moduleFileExtensions: ["mjs", "cjs", "js", "json", "node"],
  modulePathIgnorePatterns: ["<rootDir>/build/", "<rootDir>/.toolchain/"],
  testTimeout: 300_000,
};
