import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { ProviderHealth } from "../../protocol";
import { HealthNote, spendingWords } from "./Health";

const nothing = { tokens: 0, dollars: 0, unpriced: 0 };
const working: ProviderHealth = {
  id: "anthropic",
  state: "working",
  summary: "It answered 5 seconds ago.",
  consecutiveFailures: 0,
  streamsWhole: 3,
  streamsBroken: 0,
  callsReadable: 4,
  callsUnreadable: 0,
  unknownModels: [],
  today: nothing,
};

test("what was spent says what is not known of it", () => {
  expect(spendingWords({ tokens: 1_200, dollars: 0.42, unpriced: 0 })).toBe("1.2k tokens, $0.42");
  expect(spendingWords({ tokens: 900, dollars: 0.5, unpriced: 2 })).toBe("900 tokens, $0.50 and 2 requests of unknown price");
  expect(spendingWords({ tokens: 900, dollars: 0, unpriced: 2 })).toBe("900 tokens");
});

test("a provider's health in one line; silence where it was not tried", () => {
  const { rerender, container } = render(<HealthNote health={{ ...working, state: "untried" }} />);
  expect(container.textContent).toBe("");
  const troubled = { ...working, firstByteMs: 340, streamsBroken: 1, unknownModels: ["gone-1"], today: { tokens: 1_000, dollars: 0.1, unpriced: 0 } };
  rerender(<HealthNote health={troubled} />);
  expect(screen.getByText(/answered/).textContent).toBe(
    "It answered 5 seconds ago. First byte after 340 ms. 1 of 4 answers broke off. It has no gone-1. Today 1.0k tokens, $0.10.",
  );
});
