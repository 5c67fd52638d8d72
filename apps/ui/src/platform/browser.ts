/** What the browser does for the screen: clipboard, downloads, notifications. A desktop window replaces this file. */

export async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}

export function saveAs(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download has taken the data by the next task; releasing at once cancels it in some browsers.
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}

export function notify(title: string, body: string): void {
  if (document.hasFocus() || !("Notification" in window) || Notification.permission !== "granted") return;
  const shown = new Notification(title, { body });
  shown.addEventListener("click", () => window.focus());
}

/** The host's socket, on the address that served the page. */
export function socketUrl(): string {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  return `${scheme}//${location.host}/ws`;
}
