/** The screen in a real browser, against the real program. `cargo xtask test` runs this; see support/place.ts. */
import { defineConfig } from "@playwright/test";

const executablePath = process.env["VIBE_CODER_CHROMIUM"] ?? "/usr/bin/chromium";
// Chromium's own sandbox does not work for root; the pages are the product's own, from loopback.
const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];

export default defineConfig({
  testDir: "tests",
  outputDir: "../target/e2e",
  fullyParallel: true,
  // Each test has a host, an engine and a page of its own; more of them only wait for one another.
  workers: Number(process.env["VIBE_CODER_E2E_WORKERS"] ?? 2),
  retries: 0,
  forbidOnly: true,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: [["list"]],
  use: {
    launchOptions: { executablePath, args },
    viewport: { width: 1440, height: 900 },
    locale: "en-US",
    timezoneId: "UTC",
    colorScheme: "dark",
    reducedMotion: "reduce",
    trace: "off",
    screenshot: "only-on-failure",
    actionTimeout: 15_000,
  },
});
