/** The host's part of the wire: methods that concern no single context, and its events. The engine's part is generated
 * in `protocol/`. */
import type { EventEnvelope, Methods, Notice, RuntimeError } from "../protocol";

export type ContextState = "stopped" | "starting" | "ready" | "suspended" | "failed" | "stopping";

export interface ContextSummary {
  context: string;
  path: string;
  name: string;
  state: ContextState;
}

export interface RecentWorkspace {
  path: string;
  name: string;
  openedAt: number;
  exists: boolean;
}

export interface HostMethods {
  "host/hello": {
    params: Record<string, never>;
    result: { version: string; platform: string; contexts: ContextSummary[] };
  };
  "host/open": { params: { path: string; allowWide?: boolean }; result: { context: string } };
  "host/contexts": { params: Record<string, never>; result: { contexts: ContextSummary[] } };
  "host/close": { params: { context: string }; result: Record<string, never> };
  "host/restart": { params: { context: string }; result: Record<string, never> };
  "host/recent": { params: Record<string, never>; result: { recent: RecentWorkspace[] } };
  "host/sample": { params: Record<string, never>; result: { context: string } };
  "host/folders": { params: { path: string }; result: { path: string; parent: string | null; folders: string[] } };
}

export interface HostEvent {
  type: "contextStateChanged";
  context: string;
  from: ContextState;
  to: ContextState;
  reason?: string | null;
}

/** One frame from the host, sorted by what it carries. */
export type Frame =
  | { kind: "event"; context: string; event: EventEnvelope }
  | { kind: "notice"; context: string; notice: Notice }
  | { kind: "host"; event: HostEvent }
  | { kind: "reply"; id: number; ok: true; data: unknown }
  | { kind: "reply"; id: number; ok: false; error: RuntimeError };

export type EngineMethod = keyof Methods;
export type HostMethod = keyof HostMethods;
