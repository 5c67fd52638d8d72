/** What tests do on the screen, in the words of a person: found by role and name, never by class. */
import { type Locator, type Page, expect } from "@playwright/test";

export class Screen {
  /** Errors of the page's own code, and what its content security policy refused. */
  readonly faults: string[] = [];

  constructor(readonly page: Page) {
    page.on("pageerror", (error) => this.faults.push(String(error)));
    page.on("console", (message) => {
      const text = message.text();
      if (message.type() === "error" && !/WebSocket connection|net::ERR_CONNECTION/.test(text)) this.faults.push(text);
    });
  }

  async open(url: string): Promise<void> {
    await this.page.goto(url);
    await expect(this.composer).toBeVisible();
    await expect(this.page.getByText("Connected", { exact: true })).toBeVisible();
  }

  get composer(): Locator {
    return this.page.getByRole("textbox", { name: "Message" });
  }

  get conversation(): Locator {
    return this.page.getByRole("feed", { name: "Conversation" });
  }

  /** Items of the conversation by what they are: "Answer", "Changes", "Command …". */
  items(name: string): Locator {
    return this.conversation.getByRole("article", { name, exact: true });
  }

  get changes(): Locator {
    return this.conversation.getByRole("region", { name: "Changes" });
  }

  get status(): Locator {
    return this.page.getByRole("contentinfo");
  }

  get toasts(): Locator {
    return this.page.getByRole("region", { name: /notifications/i });
  }

  async send(text: string): Promise<void> {
    await this.composer.fill(text);
    await this.composer.press("Enter");
  }

  /** Waits until the turn is over, however it ended. */
  async turnEnds(count = 1): Promise<void> {
    await expect(this.items("Summary")).toHaveCount(count);
  }

  /** Asks the engine of this window's workspace beside the screen, over a socket of its own with the window's key. */
  ask(method: string, params: object = {}): Promise<Record<string, unknown>> {
    return this.page.evaluate(
      ([asked, given]) =>
        new Promise<Record<string, unknown>>((done, fail) => {
          const socket = new WebSocket(`ws://${location.host}/ws`);
          const context = location.hash.replace("#c/", "");
          socket.onopen = () => socket.send(JSON.stringify({ id: 1, context, method: asked, params: given }));
          socket.onerror = () => fail(new Error("no connection"));
          socket.onmessage = ({ data }) => {
            const frame = JSON.parse(data);
            if (frame.id !== 1) return;
            socket.close();
            if (frame.ok) done(frame.data);
            else fail(new Error(frame.error.code));
          };
        }),
      [method, params] as const,
    );
  }

  /** Opens a file in the editor, by the letters of its path. */
  async openFile(path: string): Promise<void> {
    await this.page.keyboard.press("Control+p");
    const box = this.page.getByRole("combobox", { name: "Search", exact: true });
    await box.fill(path);
    await this.page.getByRole("option", { name: new RegExp(escaped(path.split("/").at(-1)!)) }).first().waitFor();
    await this.page.keyboard.press("Enter");
    await expect(this.page.getByRole("tab", { name: new RegExp(escaped(path.split("/").at(-1)!)) })).toBeVisible();
  }

  get editor(): Locator {
    return this.page.locator(".monaco-editor").first();
  }

  /** What the editor in front shows, by its lines on screen. */
  async editorText(): Promise<string> {
    const lines = this.editor.locator(".view-line");
    const placed = await lines.evaluateAll((found) =>
      found.map((line) => ({ top: Number.parseFloat((line as HTMLElement).style.top), text: line.textContent ?? "" })),
    );
    return placed.toSorted((a, b) => a.top - b.top).map(({ text }) => text.replaceAll("\u00a0", " ")).join("\n");
  }

  /** Puts the caret into the editor in front and types. */
  async typeAtStart(text: string): Promise<void> {
    await this.editor.locator(".view-lines").click({ position: { x: 5, y: 5 } });
    await this.page.keyboard.press("Control+Home");
    await this.page.keyboard.type(text);
  }
}

export function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
