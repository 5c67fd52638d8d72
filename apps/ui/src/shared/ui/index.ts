export { Button, IconButton, keyOf } from "./Button";
export { ContextMenu } from "./ContextMenu";
export { Dialog } from "./Dialog";
export { FileIcon } from "./FileIcon";
export { Menu, type MenuEntry } from "./Menu";
export { StateGlyph, type GlyphState } from "./StateGlyph";
export { Tooltip, TooltipProvider } from "./Tooltip";
export { useNow } from "./clock";
