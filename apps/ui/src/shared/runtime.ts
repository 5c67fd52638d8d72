/** The one interface through which features reach the shell. `app/` installs it; tests install a double. */
import type { Methods } from "../protocol";
import type { EngineMethod, HostMethod, HostMethods } from "./host";

export interface Runtime {
  /** Asks the engine of the open workspace. Rejects with `RequestFailed`. */
  request<M extends EngineMethod>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]>;
  /** Asks the host. Rejects with `RequestFailed`. */
  host<M extends HostMethod>(method: M, params: HostMethods[M]["params"]): Promise<HostMethods[M]["result"]>;
  /** Makes a context the one this window shows; all domain stores start anew. */
  enter(context: string): Promise<void>;
  /** Tries the connection now instead of at the end of the waiting time. */
  reconnect(): void;
  copy(text: string): Promise<void>;
  /** Hands a text to the browser's download. */
  saveAs(name: string, text: string): void;
  /** Tells the user while the window is not looked at. Silent where the system refuses. */
  notify(title: string, body: string): void;
}

let installed: Runtime | null = null;

export function installRuntime(given: Runtime): void {
  installed = given;
}

export function runtime(): Runtime {
  if (!installed) throw new Error("The runtime is used before app/start installed it.");
  return installed;
}
