import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Listing, ROOT, Tree, treeOfPaths } from "./tree";

/** The naive model: nested objects and a full walk for every question. */
interface Plain {
  name: string;
  folder: boolean;
  open: boolean;
  children: Plain[] | null;
}

function plainRows(children: readonly Plain[] | null, level: number, rows: string[]): string[] {
  if (!children) return [...rows, `${level} Loading`];
  let all = rows;
  for (const child of children) {
    let label = child.name;
    let tail = child;
    while (tail.folder && tail.children?.length === 1 && tail.children[0]!.folder) {
      tail = tail.children[0]!;
      label += `/${tail.name}`;
    }
    all = [...all, `${level} ${label}`];
    if (tail.folder && tail.open) all = plainRows(tail.children, level + 1, all);
  }
  return all;
}

function shown(tree: Tree): string[] {
  return Array.from({ length: tree.rowCount }, (_, index) => {
    const row = tree.row(index)!;
    return row.what === "node" ? `${row.level} ${tree.label(row.id)}` : `${row.level} Loading`;
  });
}

function listing(names: readonly string[]): Listing {
  const inner = names.filter((entry) => entry.startsWith("d")).sort();
  const files = names.filter((entry) => !entry.startsWith("d")).sort();
  return {
    names: [...inner, ...files],
    kinds: [...inner.map(() => "folder" as const), ...files.map(() => "file" as const)],
    ignored: names.map(() => false),
    omitted: 0,
  };
}

type Step = { what: "toggle"; at: number } | { what: "list"; at: number; names: string[] };

const name = fc.constantFrom("d1", "d2", "d3", "a", "b");
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ what: fc.constant("toggle" as const), at: fc.nat(40) }),
  fc.record({ what: fc.constant("list" as const), at: fc.nat(40), names: fc.uniqueArray(name, { maxLength: 4 }) }),
);

/** Every folder of the naive model with its path, in one order for both sides. */
function folders(root: Plain, path = "."): [string, Plain][] {
  const below = (root.children ?? [])
    .filter((child) => child.folder)
    .flatMap((child) => folders(child, path === "." ? child.name : `${path}/${child.name}`));
  return [[path, root], ...below];
}

function joined(plain: Plain, root: Plain): Plain[] {
  const parents = new Map(folders(root).flatMap(([, folder]) => (folder.children ?? []).map((child) => [child, folder] as const)));
  const chain = [plain];
  for (;;) {
    const parent = parents.get(chain[0]!);
    if (!parent || parent === root || parent.children!.length !== 1) break;
    chain.unshift(parent);
  }
  for (;;) {
    const only = chain.at(-1)!.children;
    if (only?.length !== 1 || !only[0]!.folder) return chain;
    chain.push(only[0]!);
  }
}

describe("tree", () => {
  it("shows what a naive walk shows after any steps", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const tree = new Tree();
        const root: Plain = { name: "", folder: true, open: true, children: null };
        for (const { at, ...made } of steps) {
          const all = folders(root);
          const [path, plain] = all[at % all.length]!;
          const id = tree.find(path)!;
          if (made.what === "toggle") {
            if (plain === root) continue;
            const chain = joined(plain, root);
            const open = chain.at(-1)!.open;
            for (const member of chain) member.open = !open;
            if (open) tree.collapse(id);
            else tree.expand(tree.head(id));
          } else {
            const wanted = listing(made.names);
            const known = new Map((plain.children ?? []).map((child) => [child.name, child]));
            plain.children = wanted.names.map(
              (entry) => known.get(entry) ?? { name: entry, folder: entry.startsWith("d"), open: false, children: null },
            );
            if (plain !== root && plain.open && plain.children.length === 1 && plain.children[0]!.folder) plain.children[0]!.open = true;
            tree.setChildren(id, wanted);
          }
          expect(shown(tree)).toEqual(plainRows(root.children, 1, []));
        }
      }),
      { numRuns: 400 },
    );
  });

  it("keeps what is open below a folder that is listed again", () => {
    const tree = new Tree();
    tree.setChildren(ROOT, listing(["d1", "a"]));
    tree.expand(tree.find("d1")!);
    tree.setChildren(tree.find("d1")!, listing(["d2", "b"]));
    tree.setChildren(ROOT, listing(["d1", "a", "c"]));
    expect(shown(tree)).toEqual(["1 d1", "2 d2", "2 b", "1 a", "1 c"]);
  });

  it("finds, joins and places names", () => {
    const tree = treeOfPaths(["src/main/java/A.java", "src/main/java/B.java", "readme"]);
    expect(shown(tree)).toEqual(["1 src/main/java", "2 A.java", "2 B.java", "1 readme"]);
    expect(tree.rowOf(tree.find("src/main")!)).toBe(0);
    expect(tree.path(tree.row(2)!.what === "node" ? (tree.row(2) as { id: number }).id : -1)).toBe("src/main/java/B.java");
    tree.setDraft(tree.find("src/main")!);
    expect(tree.row(1)).toMatchObject({ what: "draft", level: 2 });
  });

  it("takes half a million names in well under a second each way", () => {
    const tree = new Tree();
    const names = Array.from({ length: 500_000 }, (_, index) => `f${index}`);
    tree.setChildren(ROOT, listing(["d1"]));
    tree.setChildren(tree.find("d1")!, { names, kinds: names.map(() => "file"), ignored: names.map(() => false), omitted: 3 });
    tree.expand(tree.find("d1")!);
    expect(tree.rowCount).toBe(500_002);
    expect(tree.row(500_001)).toMatchObject({ what: "more" });
    expect(tree.find("d1/f499999")).not.toBeNull();
    tree.collapse(tree.find("d1")!);
    expect(tree.rowCount).toBe(1);
  });
});
