import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, test, vi } from "vitest";
import { chunks } from "../../test/events";
import { testRuntime } from "../../test/runtime";
import { BlockStream } from "./blocks";
import { Markdown } from "./Markdown";

const TEXT = `# Title

A paragraph with **bold**, \`code\` and
a second line.
#no heading

- one
- two

  still two
- three

1. first
2. second

\`\`\`rust
fn main() {

    println!("# not a heading");
}
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

> quoted
> more

Setext
------

last words`;

test("any chunking of the same text gives the same blocks", () => {
  const whole = new BlockStream().update(TEXT);
  for (let seed = 1; seed <= 60; seed += 1) {
    const stream = new BlockStream();
    let text = "";
    let blocks = whole;
    for (const part of chunks(TEXT, seed, 1 + (seed % 17))) {
      text += part;
      blocks = stream.update(text);
    }
    expect(blocks.map((block) => block.raw)).toEqual(whole.map((block) => block.raw));
  }
});

test("earlier blocks are never looked at again", () => {
  const stream = new BlockStream();
  const first = stream.update("one\n\ntwo\n\nthr")[0];
  expect(stream.update("one\n\ntwo\n\nthree\n\nfour")[0]).toBe(first);
});

describe("nothing a model writes runs or loads", () => {
  const cases: [string, string][] = [
    ["html", '<img src=x onerror="alert(1)"><script>alert(1)</script>'],
    ["inline html", 'text <b onclick="x()">bold</b>'],
    ["image", "![tracker](https://evil.example/x.png)"],
    ["script link", "[press](javascript:alert(1))"],
    ["data link", "[press](data:text/html,<script>1</script>)"],
  ];
  for (const [name, text] of cases) {
    test(name, () => {
      const { container } = render(<Markdown text={text} streaming={false} />);
      expect(container.querySelector("img, script, b[onclick], iframe")).toBeNull();
      for (const link of container.querySelectorAll("a")) expect(link.getAttribute("href")).toMatch(/^https?:/);
    });
  }
});

test("a path in a code span opens the file at the line", async () => {
  const open = vi.fn();
  render(<Markdown text="Look at `src/lib.rs:11`, not at `total`." streaming={false} onOpenPath={open} />);
  await userEvent.click(screen.getByRole("button", { name: "src/lib.rs:11" }));
  expect(open).toHaveBeenCalledWith("src/lib.rs", 11);
  expect(screen.getByText("total").tagName).toBe("CODE");
});

test("an open mark of the tail is closed while it streams", () => {
  const { container } = render(<Markdown text="This is **bo" streaming />);
  expect(container.querySelector("strong")?.textContent).toBe("bo");
});

test("code is copied as it is", async () => {
  const { copied } = testRuntime();
  const { container } = render(<Markdown text={"```ts\nconst a = 1 < 2;\n```"} streaming={false} />);
  await userEvent.click(within(container).getByRole("button", { name: "Copy" }));
  expect(copied).toEqual(["const a = 1 < 2;"]);
});
