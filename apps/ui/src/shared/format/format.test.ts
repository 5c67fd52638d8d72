import { expect, test } from "vitest";
import { ago, bytes, count, dollars, duration, elapsed, middle, tokens } from "./index";

test("numbers in words", () => {
  expect([0, 9, 999, 3_200, 64_000, 3_900_000].map(duration)).toEqual(["0 ms", "9 ms", "999 ms", "3.2 s", "1 m 04 s", "1 h 05 m"]);
  expect(elapsed(12_900)).toBe("12 s");
  expect([0, 1_023, 1_536, 5_000_000].map(bytes)).toEqual(["0 bytes", "1023 bytes", "1.5 KB", "4.8 MB"]);
  expect([count(1, "file"), count(0, "file"), count(1_204, "line")]).toEqual(["1 file", "0 files", "1,204 lines"]);
  expect([840, 12_400, 1_200_000].map(tokens)).toEqual(["840", "12.4k", "1.2M"]);
  expect([0.42, 0.0042, 0].map(dollars)).toEqual(["$0.42", "$0.0042", "$0.00"]);
  expect(middle("crates/engine/src/requests/mod.rs", 16)).toHaveLength(16);
});

test("times relative under a day", () => {
  const now = Date.UTC(2026, 10, 30, 12);
  expect(ago(now - 5_000, now)).toBe("just now");
  expect(ago(now - 120_000, now)).toBe("2 min ago");
  expect(ago(now - 3 * 3_600_000, now)).toBe("3 h ago");
  expect(ago(now + 5_000, now)).toBe("just now");
});
