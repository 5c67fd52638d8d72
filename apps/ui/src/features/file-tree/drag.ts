/** Moving rows by pointer. HTML drag events are not used: desktop windows switch them off to take files from outside. */
import { count, fileName } from "../../shared/format";
import { expand } from "./loading";
import { moveInto, takes } from "./commands";
import { fileTreeStore, parentPath } from "./store";

/** Less than this is a click with an unsteady hand. */
const BEGINS_AFTER_PX = 5;
const OPENS_AFTER_MS = 600;
/** Near the edge the tree scrolls, this much per pointer event. */
const EDGE_PX = 24;

export function beginDrag(event: React.PointerEvent, path: string, onClick: () => void): void {
  const { clientX, clientY, pointerId } = event;
  let ghost: HTMLElement | null = null;
  let paths: readonly string[] = [];
  let over: string | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;

  const aim = (folder: string | null): void => {
    if (folder === over) return;
    over = folder;
    if (timer !== null) clearTimeout(timer);
    timer = folder !== null && folder !== "." ? setTimeout(() => void expand(folder), OPENS_AFTER_MS) : null;
    fileTreeStore.setState({ dropInto: folder !== null && takes(folder, paths) ? folder : null });
  };

  const moved = (at: PointerEvent): void => {
    if (at.pointerId !== pointerId) return;
    if (!ghost) {
      if (Math.hypot(at.clientX - clientX, at.clientY - clientY) < BEGINS_AFTER_PX) return;
      const { selected } = fileTreeStore.getState();
      paths = selected.includes(path) ? selected : [path];
      ghost = document.createElement("div");
      ghost.className = "vc-drag-ghost";
      ghost.textContent = paths.length === 1 ? fileName(paths[0]!) : count(paths.length, "entry", "entries");
      document.body.append(ghost);
    }
    ghost.style.transform = `translate(${at.clientX + 12}px, ${at.clientY + 8}px)`;
    const scroller = document.getElementById("file-tree");
    const box = scroller?.getBoundingClientRect();
    if (scroller && box) {
      if (at.clientY < box.top + EDGE_PX) scroller.scrollTop -= EDGE_PX / 2;
      else if (at.clientY > box.bottom - EDGE_PX) scroller.scrollTop += EDGE_PX / 2;
    }
    aim(folderUnder(at));
  };

  const end = (drop: boolean): void => {
    window.removeEventListener("pointermove", moved);
    window.removeEventListener("pointerup", up);
    window.removeEventListener("pointercancel", cancelled);
    window.removeEventListener("keydown", escape, true);
    if (timer !== null) clearTimeout(timer);
    ghost?.remove();
    fileTreeStore.setState({ dropInto: null });
    if (!drop) return;
    if (!ghost) onClick();
    else if (over !== null) void moveInto(over, paths);
  };
  const up = (at: PointerEvent) => {
    if (at.pointerId === pointerId) end(true);
  };
  const cancelled = () => end(false);
  const escape = (press: KeyboardEvent) => {
    if (press.key !== "Escape") return;
    press.preventDefault();
    press.stopPropagation();
    end(false);
  };
  window.addEventListener("pointermove", moved);
  window.addEventListener("pointerup", up);
  window.addEventListener("pointercancel", cancelled);
  window.addEventListener("keydown", escape, true);
}

/** The folder that a drop here would go to; the empty rest of the tree is the root. */
function folderUnder(at: PointerEvent): string | null {
  const element = document.elementFromPoint(at.clientX, at.clientY);
  const row = element?.closest<HTMLElement>("#file-tree [data-path]");
  if (row) return row.dataset["folder"] === undefined ? parentPath(row.dataset["path"]!) : row.dataset["path"]!;
  return element?.closest("#file-tree") ? "." : null;
}
