/** Tells whoever shows files that some changed on disk. Carries names only; listeners ask the engine for the rest. */

export interface FileNotice {
  folders: readonly string[];
  files: readonly string[];
  /** The state of git changed: letters and decorations are out of date. */
  git?: boolean;
}

const listeners = new Set<(notice: FileNotice) => void>();

export const fileNotices = {
  /** Gives the function that ends it. */
  listen(listener: (notice: FileNotice) => void): () => void {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  },
  publish(notice: FileNotice): void {
    for (const listener of listeners) listener(notice);
  },
};
