/** Listens for keys once, for the whole window, and runs the command that declared them. */
import { type KeyPlace, commandForKey, isMac } from "../shared/commands";

/** An element says which keys count inside it: `data-keys="composer"`. Places may lie inside one another. */
function placesOf(target: EventTarget | null): Set<KeyPlace> {
  const places = new Set<KeyPlace>(["anywhere"]);
  if (!(target instanceof Element)) return places;
  for (let at: Element | null = target; at; at = at.parentElement) {
    const name = at.getAttribute("data-keys");
    if (name) places.add(name as KeyPlace);
  }
  // A waiting approval is answered from anywhere; its keys carry Alt and are armed by the strip itself.
  if (document.querySelector("[data-approval-armed]")) places.add("approval");
  return places;
}

export function listenForKeys(): () => void {
  const listener = (event: KeyboardEvent) => {
    if (event.isComposing || event.defaultPrevented || event.repeat) return;
    const found = commandForKey(event, placesOf(event.target), isMac);
    if (!found) return;
    event.preventDefault();
    if (!found.unavailable?.()) void found.run();
  };
  window.addEventListener("keydown", listener);
  return () => window.removeEventListener("keydown", listener);
}
