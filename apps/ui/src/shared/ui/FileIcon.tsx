/** The small picture in front of a file's name. It repeats what the name says, so it has no words of its own. */
import { Braces, File, FileArchive, FileCode, FileImage, FileLock, FileTerminal, FileText, type LucideIcon } from "lucide-react";

const BY_ENDING: Record<string, LucideIcon> = {};
const put = (icon: LucideIcon, endings: string) => {
  for (const ending of endings.split(" ")) BY_ENDING[ending] = icon;
};
put(FileCode, "c cc cpp cs css dart ex go h hpp html java js jsx kt lua mjs php pl py rb rs scala scss sql svelte swift ts tsx vue zig");
put(Braces, "json jsonc json5 toml yaml yml xml ini cfg conf");
put(FileText, "md mdx txt rst adoc log");
put(FileImage, "png jpg jpeg gif webp svg ico bmp avif");
put(FileArchive, "zip gz tar xz zst bz2 7z rar jar");
put(FileTerminal, "sh bash zsh fish ps1 bat cmd");
put(FileLock, "lock pem key crt");

export function FileIcon({ path, size = 14 }: { path: string; size?: number }) {
  const Icon = BY_ENDING[path.slice(path.lastIndexOf(".") + 1).toLowerCase()] ?? File;
  return <Icon size={size} aria-hidden="true" />;
}
