import type { ItemStatus } from "../../../protocol";
import type { GlyphState } from "../../../shared/ui";

export function glyphOf(status: ItemStatus): GlyphState {
  const glyphs: Record<ItemStatus, GlyphState> = {
    pending: "todo",
    running: "running",
    succeeded: "done",
    failed: "failed",
    cancelled: "stopped",
  };
  return glyphs[status];
}
