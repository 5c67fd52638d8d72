/**
 * Follows one context's numbered events: each exactly once, in order. An event that was seen is dropped, a hole in the
 * numbers makes it subscribe again from the last one seen. Owns the number and nothing else.
 */
import type { EventEnvelope } from "../protocol";

export interface SubscriptionOptions {
  /** The newest event that what is on screen already contains. */
  fromSeq: number;
  /** Asks for replay after `fromSeq`, then live. */
  subscribe(fromSeq: number): Promise<unknown>;
  onEvent(event: EventEnvelope): void;
}

export interface Subscription {
  receive(event: EventEnvelope): void;
  /** After a reconnection: asks for what was missed. */
  renew(): void;
  lastSeq(): number;
}

export function follow(options: SubscriptionOptions): Subscription {
  let last = options.fromSeq;
  /** Set while a hole waits for its replay, so that live events after the hole ask for it only once. */
  let repairing = false;

  function renew(): void {
    repairing = true;
    options
      .subscribe(last)
      // A refused or lost request leaves the hole; the next event or connection asks again.
      .catch(() => undefined)
      .finally(() => {
        repairing = false;
      });
  }

  return {
    receive(event) {
      if (event.seq <= last) return;
      if (event.seq > last + 1) {
        if (!repairing) renew();
        return;
      }
      last = event.seq;
      options.onEvent(event);
    },
    renew,
    lastSeq: () => last,
  };
}
