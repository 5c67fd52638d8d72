/**
 * A hermetic place: own home, data folder and workspace below one temporary folder, the real program serving it, and
 * the scripted model server answering it over real HTTP. Knows nothing of the screen.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const target = process.env["CARGO_TARGET_DIR"] ? resolve(root, process.env["CARGO_TARGET_DIR"]) : join(root, "target");
const binary = process.env["VIBE_CODER_BINARY"] ?? join(target, "debug/vibe-coder");
const modelServer = join(target, "debug/examples/model_server");

/** Where screenshots of the main states go. */
export const SCREENS = join(target, "screens");

export class Place {
  readonly root = mkdtempSync(join(tmpdir(), "vibe-e2e-"));
  readonly workspace = join(this.root, "ws");
  readonly data = join(this.root, "data");
  readonly variables: Record<string, string>;
  #host: ChildProcess | null = null;
  #model: ChildProcess | null = null;

  constructor() {
    for (const folder of ["home", "data", "ws"]) mkdirSync(join(this.root, folder));
    const home = process.env["HOME"] ?? "/";
    this.variables = {
      PATH: process.env["PATH"] ?? "",
      // The toolchain of the machine is real; only what belongs to a user is replaced.
      CARGO_HOME: process.env["CARGO_HOME"] ?? join(home, ".cargo"),
      RUSTUP_HOME: process.env["RUSTUP_HOME"] ?? join(home, ".rustup"),
      HOME: join(this.root, "home"),
      VIBE_CODER_HOME: this.data,
      LANG: "C.UTF-8",
      CARGO_NET_OFFLINE: "true",
      GIT_AUTHOR_NAME: "Test",
      GIT_AUTHOR_EMAIL: "test@example.invalid",
      GIT_COMMITTER_NAME: "Test",
      GIT_COMMITTER_EMAIL: "test@example.invalid",
      GIT_CONFIG_NOSYSTEM: "1",
    };
  }

  write(path: string, content: string | Uint8Array): void {
    const file = join(this.workspace, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  read(path: string): string {
    return readFileSync(join(this.workspace, path), "utf8");
  }

  exists(path: string): boolean {
    return existsSync(join(this.workspace, path));
  }

  link(path: string, to: string): void {
    symlinkSync(to, join(this.workspace, path));
  }

  commitAll(): void {
    this.git("init", "-q", "-b", "main", ".");
    this.git("add", "-A");
    this.git("commit", "-q", "--allow-empty", "-m", "base");
  }

  git(...args: string[]): string {
    return execFileSync("git", args, { cwd: this.workspace, env: this.variables, encoding: "utf8" });
  }

  /** The product, run to its end. */
  vibe(...args: string[]): string {
    return execFileSync(binary, args, { cwd: this.workspace, env: this.variables, encoding: "utf8", maxBuffer: 1 << 28 });
  }

  /** Answers from here on come from a model server that plays this scenario (docs/product/scenarios.md). */
  async play(scenario: string): Promise<void> {
    this.#model?.stdin?.end();
    const file = join(this.root, "scenario.yaml");
    writeFileSync(file, scenario);
    const server = spawn(modelServer, [file], { stdio: ["pipe", "pipe", "inherit"] });
    this.#model = server;
    const addresses = JSON.parse(await firstLine(server, "the model server"));
    this.variables["ANTHROPIC_BASE_URL"] = addresses.anthropic;
    this.variables["ANTHROPIC_API_KEY"] = "sk-ant-test-0123456789";
  }

  /** Starts the host on the workspace, or without one; gives an address that opens a window once. */
  async serve(options: { port?: number; without?: "workspace"; more?: string[] } = {}): Promise<string> {
    const folder = options.without ? [] : [this.workspace];
    const port = options.port ? ["--port", String(options.port)] : [];
    const host = spawn(binary, ["serve", "--json", ...folder, ...port, ...(options.more ?? [])], {
      cwd: this.root,
      env: this.variables,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#host = host;
    return JSON.parse(await firstLine(host, "the host")).url;
  }

  /** Another address from the host that runs. */
  async anotherWindow(workspace = this.workspace): Promise<string> {
    return execFileSync(binary, ["--no-open", workspace], { cwd: this.root, env: this.variables, encoding: "utf8" }).trim();
  }

  hostRecord(): { port: number; token: string } {
    return JSON.parse(readFileSync(join(this.data, "host.json"), "utf8"));
  }

  /** Kills the host hard, as a crash would, and waits until it is gone. */
  async killHost(): Promise<void> {
    const host = this.#host;
    if (!host || host.exitCode !== null || host.signalCode !== null) return;
    const gone = new Promise((done) => host.once("exit", done));
    host.kill("SIGKILL");
    await gone;
  }

  /** The engine of a workspace, by its command line. */
  enginePid(workspace = this.workspace): number | null {
    return processesWith(`--listen\0--workspace\0${workspace}`)[0] ?? null;
  }

  killEngine(): void {
    const pid = this.enginePid();
    if (pid === null) throw new Error("no engine runs");
    process.kill(pid, "SIGKILL");
  }

  async close(): Promise<void> {
    await this.killHost();
    this.#model?.stdin?.end();
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** Processes whose command line contains a text; arguments are separated by NUL. */
export function processesWith(text: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(text) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

/** Most resident memory a process has had so far, in MB. */
export function peakMemory(pid: number): number {
  const found = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return found ? Number(found[1]) / 1024 : Number.NaN;
}

function firstLine(child: ChildProcess, what: string): Promise<string> {
  return new Promise((done, fail) => {
    let said = "";
    child.stderr?.on("data", (piece) => (said += piece));
    createInterface({ input: child.stdout! }).once("line", done);
    child.once("error", fail);
    child.once("exit", (code) => fail(new Error(`${what} ended (${code}): ${said}`)));
  });
}
