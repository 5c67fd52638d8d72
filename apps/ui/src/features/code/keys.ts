/** Keys inside the editor: the window's commands come first, the editor has the rest. */
import { type KeyPlace, commandForKey, isMac } from "../../shared/commands";

/** The editor's own boxes, find and go to line, keep the keys that are typed into them. */
const OWN_BOXES = ".find-widget, .quick-input-widget, .rename-box, .suggest-widget";
/** What the editor does with its own meaning while the text has the focus. */
const EDITORS = new Set(["Mod+/"]);

/** Gives the function that ends it. */
export function giveKeysToWindow(element: HTMLElement): () => void {
  const listener = (event: KeyboardEvent) => {
    if (event.isComposing || event.repeat || !(event.target instanceof Element)) return;
    const found = commandForKey(event, placesOf(event.target), isMac);
    if (!found || found.keys?.some((keys) => EDITORS.has(keys))) return;
    if (event.target.closest(OWN_BOXES) && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (!found.unavailable?.()) void found.run();
  };
  element.addEventListener("keydown", listener, true);
  return () => element.removeEventListener("keydown", listener, true);
}

function placesOf(target: Element): Set<KeyPlace> {
  const places = new Set<KeyPlace>(["anywhere"]);
  for (let at: Element | null = target; at; at = at.parentElement) {
    const name = at.getAttribute("data-keys");
    if (name) places.add(name as KeyPlace);
  }
  return places;
}
