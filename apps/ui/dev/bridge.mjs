// Development only: gives the screen a host when none is built. Bridges one WebSocket per window to
// `vibe-coder engine` over standard input and output, one engine per workspace.
//
//   node dev/bridge.mjs [--binary PATH] [--dist PATH] [--port N] [WORKSPACE]
//
// It keeps no token and checks no origin: it listens on 127.0.0.1 and is never shipped.
import { spawn, execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, existsSync, mkdtempSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, extname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";

const here = dirname(fileURLToPath(import.meta.url));
const options = { binary: resolve(here, "../../../target/debug/vibe-coder"), port: 4817, workspace: null, dist: resolve(here, "../dist") };
for (let args = process.argv.slice(2); args.length > 0; ) {
  const word = args.shift();
  if (word === "--binary") options.binary = resolve(args.shift());
  else if (word === "--dist") options.dist = resolve(args.shift());
  else if (word === "--port") options.port = Number(args.shift());
  else options.workspace = resolve(word);
}

const contexts = new Map();
const windows = new Set();

function open(path, environment = {}) {
  const key = createHash("sha256").update(path).digest("hex").slice(0, 16);
  if (!contexts.has(key)) contexts.set(key, { key, path, environment, state: "stopped", child: null, queue: [] });
  const context = contexts.get(key);
  if (!context.child) start(context);
  return key;
}

function start(context) {
  move(context, "starting");
  const child = spawn(options.binary, ["engine", "--workspace", context.path], {
    env: { ...process.env, ...context.environment },
    stdio: ["pipe", "pipe", "inherit"],
  });
  context.child = child;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const frame = JSON.parse(line);
    if (frame.id !== undefined && frame.id !== null) {
      const [window, id] = context.queue[frame.id] ?? [];
      window?.send(JSON.stringify({ context: context.key, ...frame, id }));
    } else {
      for (const window of windows) window.send(JSON.stringify({ context: context.key, ...frame }));
    }
  });
  child.on("exit", (code) => {
    context.child = null;
    move(context, "failed", `The engine ended (${code}).`);
  });
  move(context, "ready");
}

function move(context, to, reason = null) {
  const from = context.state;
  context.state = to;
  const hostEvent = { type: "contextStateChanged", context: context.key, from, to, reason };
  for (const window of windows) window.send(JSON.stringify({ hostEvent }));
}

const summary = (context) => ({
  context: context.key,
  path: context.path,
  name: basename(context.path),
  state: context.state,
});

const hostMethods = {
  "host/hello": () => ({ version: "dev", platform: process.platform, contexts: [...contexts.values()].map(summary) }),
  "host/contexts": () => ({ contexts: [...contexts.values()].map(summary) }),
  "host/open": ({ path }) => ({ context: open(resolve(path)) }),
  "host/close": ({ context }) => {
    contexts.get(context)?.child?.stdin.end();
    return {};
  },
  "host/restart": ({ context }) => {
    const known = contexts.get(context);
    if (known && !known.child) start(known);
    return {};
  },
  "host/recent": () => ({ recent: [] }),
  "host/folders": ({ path }) => {
    const folder = resolve(path || homedir());
    const folders = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
    return { path: folder, parent: folder === "/" ? null : dirname(folder), folders };
  },
  "host/sample": () =>
    new Promise((done, fail) => {
      const into = mkdtempSync(join(tmpdir(), "vibe-sample-"));
      execFile(options.binary, ["demo", "--prepare", into, "--json"], (error, stdout) => {
        if (error) return fail(error);
        const sample = JSON.parse(stdout);
        done({ context: open(sample.repository ?? join(into, "till")) });
      });
    }),
};

const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const server = createServer((request, response) => {
  const { dist } = options;
  const path = join(dist, new URL(request.url, "http://x").pathname);
  const file = path.startsWith(dist) && existsSync(path) && extname(path) ? path : join(dist, "index.html");
  response.setHeader("content-type", types[extname(file)] ?? "application/octet-stream");
  response.setHeader(
    "content-security-policy",
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self' data:; img-src 'self' data: blob:; worker-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  createReadStream(file)
    .on("error", () => response.writeHead(404).end())
    .pipe(response);
});

new WebSocketServer({ server, path: "/ws" }).on("connection", (window) => {
  windows.add(window);
  window.on("close", () => windows.delete(window));
  window.on("message", async (text) => {
    const { context: key, id, method, params } = JSON.parse(text);
    if (key !== undefined) {
      const context = contexts.get(key);
      if (context && !context.child) start(context);
      const number = (context.queue.push([window, id]) || 1) - 1;
      context.child.stdin.write(`${JSON.stringify({ id: number, method, params })}\n`);
      return;
    }
    try {
      window.send(JSON.stringify({ id, ok: true, data: await hostMethods[method](params) }));
    } catch (error) {
      const refused = { code: "host.failed", message: String(error.message ?? error), recoverable: true, retryable: false };
      window.send(JSON.stringify({ id, ok: false, error: { ...refused, filesChanged: { state: "none" } } }));
    }
  });
});

server.listen(options.port, "127.0.0.1", () => {
  if (options.workspace) open(options.workspace);
  console.log(`http://127.0.0.1:${options.port}/`);
});
