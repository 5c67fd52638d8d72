/** The one error that a screen sees. Branch on `error.code`, never on its words. */
import type { ErrorCode, RuntimeError } from "../protocol";

/** Codes that arise between screen and host, where no engine is there to name them. */
export type ConnectionCode = "connection.lost" | "connection.timeout" | "screen.fault";

/** A `RuntimeError` of the wire, or one of the same shape that the screen made. */
export type ShownError = Omit<RuntimeError, "code"> & { code: ErrorCode | ConnectionCode };

export class RequestFailed extends Error {
  readonly error: ShownError;

  constructor(error: ShownError) {
    super(error.message);
    this.name = "RequestFailed";
    this.error = error;
  }
}

export function connectionLost(): RequestFailed {
  return new RequestFailed({
    code: "connection.lost",
    message: "The connection to the local engine was lost.",
    recoverable: true,
    retryable: true,
    userAction: "Wait until the status bar says Connected, then try again.",
    filesChanged: { state: "unknown" },
  });
}

/** Turns anything that was thrown into what a screen can show. */
export function asShownError(thrown: unknown): ShownError {
  if (thrown instanceof RequestFailed) return thrown.error;
  return {
    code: "screen.fault",
    message: "Something went wrong in this window.",
    detail: thrown instanceof Error ? thrown.message : String(thrown),
    recoverable: true,
    retryable: false,
    userAction: "Reload the window. Your text and files are kept.",
    filesChanged: { state: "none" },
  };
}
