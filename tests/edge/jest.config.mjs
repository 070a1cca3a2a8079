// Tests that run the packed package in workerd (Cloudflare), Deno and Bun.
export default {
  rootDir: "../..",
  testEnvironment: "node",
  testMatch: ["<rootDir>/tests/edge/**/*.test.mjs"],
  transform: { "/tests/(js|edge)/.*\\.mjs$": "<rootDir>/tests/js/transform.mjs" },
  moduleFileExtensions: ["mjs", "cjs", "js", "json", "node"],
  modulePathIgnorePatterns: ["<rootDir>/build/", "<rootDir>/.toolchain/"],
  testTimeout: 300_000,
};
