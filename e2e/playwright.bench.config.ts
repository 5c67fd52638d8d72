/** Measurements of the screen (`cargo xtask bench ui`): alone on the machine, one after the other, nothing asserted. */
import { defineConfig } from "@playwright/test";
import tests from "./playwright.config";

export default defineConfig({
  ...tests,
  testDir: "bench",
  testMatch: "*.bench.ts",
  workers: 1,
  timeout: 600_000,
});
