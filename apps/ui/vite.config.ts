import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

/** Where `npm run dev` finds the wire: the host, or dev/bridge.mjs. */
const backend = "http://127.0.0.1:4817";

export default defineConfig({
  plugins: [react({ compiler: true })],
  build: {
    outDir: "dist",
    // dist/.gitkeep is committed so that the binary's embedded folder always exists.
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1200,
  },
  worker: { format: "es" },
  server: { proxy: { "/ws": { target: backend, ws: true } } },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
    // The editor's modules leave out the endings of what they import, which node does not resolve.
    server: { deps: { inline: ["monaco-editor"] } },
    setupFiles: ["src/test-setup.ts"],
  },
});
