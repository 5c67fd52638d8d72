/** Small help around zustand's vanilla stores: stores live outside React, so that the event adapter writes to them
 * without rendering. */
export { createStore } from "zustand/vanilla";
export type { StoreApi } from "zustand/vanilla";
export { useStore } from "zustand";
export { useShallow } from "zustand/react/shallow";
