/** A runtime for tests: records what was asked and answers what the test says. */
import type { Methods } from "../protocol";
import { type Runtime, installRuntime } from "../shared/runtime";
import { RequestFailed, type ShownError } from "../shared/failure";

type Answers = { [M in keyof Methods]?: (params: Methods[M]["params"]) => Methods[M]["result"] | Promise<Methods[M]["result"]> };

export interface Asked {
  method: string;
  params: unknown;
}

export function testRuntime(answers: Answers = {}): { asked: Asked[]; copied: string[] } {
  const asked: Asked[] = [];
  const copied: string[] = [];
  const runtime: Runtime = {
    request: async <M extends keyof Methods>(method: M, params: Methods[M]["params"]) => {
      asked.push({ method, params });
      const answer = answers[method];
      if (!answer) throw new RequestFailed(refusal(method));
      return answer(params);
    },
    host: () => Promise.reject(new RequestFailed(refusal("host"))),
    enter: () => Promise.resolve(),
    reconnect: () => undefined,
    copy: (text) => {
      copied.push(text);
      return Promise.resolve();
    },
    saveAs: () => undefined,
    notify: () => undefined,
  };
  installRuntime(runtime);
  return { asked, copied };
}

function refusal(method: string): ShownError {
  return {
    code: "request.unknown",
    message: `The test answers no ${method}.`,
    recoverable: true,
    retryable: false,
    filesChanged: { state: "none" },
  };
}
