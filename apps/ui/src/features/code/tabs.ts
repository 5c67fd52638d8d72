/** Tabs and groups as values: every step gives new ones. Knows nothing of editors or files. */

export interface Tab {
  id: string;
  kind: "file" | "review" | "compare";
  /** Of a review: the file that is shown. */
  path: string;
  changeSetId: string | null;
  /** Replaced by the next preview; in italics. */
  preview: boolean;
}

export interface Group {
  id: number;
  tabs: readonly Tab[];
  /** Id of the tab in front; `null` when there is none. */
  active: string | null;
}

export interface Groups {
  groups: readonly Group[];
  /** Index of the group that was used last. */
  activeGroup: number;
}

export const MOST_GROUPS = 4;

export const noGroups: Groups = { groups: [{ id: 1, tabs: [], active: null }], activeGroup: 0 };

export function fileTab(path: string, preview: boolean): Tab {
  return { id: `file:${path}`, kind: "file", path, changeSetId: null, preview };
}

export function compareTab(path: string): Tab {
  return { id: `compare:${path}`, kind: "compare", path, changeSetId: null, preview: false };
}

export function reviewTab(changeSetId: string, path: string): Tab {
  return { id: `review:${changeSetId}`, kind: "review", path, changeSetId, preview: false };
}

export function activeTab(state: Groups): Tab | null {
  const group = state.groups[state.activeGroup];
  return group?.tabs.find((tab) => tab.id === group.active) ?? null;
}

function withGroup(state: Groups, index: number, change: Partial<Group>): Groups {
  return { ...state, groups: state.groups.map((group, at) => (at === index ? { ...group, ...change } : group)) };
}

/** Brings a tab to the front of a group: the one it has, the place of its preview, or a new one at the end. */
export function openIn(state: Groups, index: number, tab: Tab): Groups {
  const group = state.groups[index];
  if (!group) return state;
  const known = group.tabs.find((other) => other.id === tab.id);
  let tabs: readonly Tab[];
  if (known) {
    // Opening a kept file as a preview leaves it kept.
    const next = { ...known, path: tab.path, preview: known.preview && tab.preview };
    tabs = group.tabs.map((other) => (other === known ? next : other));
  } else if (tab.preview && group.tabs.some((other) => other.preview)) {
    tabs = group.tabs.map((other) => (other.preview ? tab : other));
  } else {
    const at = group.tabs.findIndex((other) => other.id === group.active);
    tabs = [...group.tabs.slice(0, at + 1), tab, ...group.tabs.slice(at + 1)];
  }
  return { ...withGroup(state, index, { tabs, active: tab.id }), activeGroup: index };
}

/** In the group beside the active one, which is made when there is none. */
export function openBeside(state: Groups, tab: Tab): Groups {
  const next = state.activeGroup + 1;
  if (state.groups[next]) return openIn(state, next, tab);
  if (state.groups.length >= MOST_GROUPS) return openIn(state, state.activeGroup, tab);
  return openIn(addGroup(state), next, tab);
}

function addGroup(state: Groups): Groups {
  const id = Math.max(0, ...state.groups.map((group) => group.id)) + 1;
  const groups = [...state.groups];
  groups.splice(state.activeGroup + 1, 0, { id, tabs: [], active: null });
  return { ...state, groups };
}

/** A new group beside the active one that shows the same. */
export function split(state: Groups): Groups {
  const tab = activeTab(state);
  if (!tab || state.groups.length >= MOST_GROUPS) return state;
  return openIn(addGroup(state), state.activeGroup + 1, { ...tab, preview: false });
}

export function activate(state: Groups, index: number, id: string): Groups {
  return { ...withGroup(state, index, { active: id }), activeGroup: index };
}

export function keepTab(state: Groups, id: string): Groups {
  return {
    ...state,
    groups: state.groups.map((group) => ({
      ...group,
      tabs: group.tabs.map((tab) => (tab.id === id ? { ...tab, preview: false } : tab)),
    })),
  };
}

/** The neighbour comes to the front; a group without tabs goes away unless it is the last. */
export function closeTab(state: Groups, index: number, id: string): Groups {
  const group = state.groups[index];
  const at = group?.tabs.findIndex((tab) => tab.id === id) ?? -1;
  if (!group || at < 0) return state;
  const tabs = group.tabs.filter((tab) => tab.id !== id);
  const active = group.active === id ? ((tabs[at] ?? tabs.at(-1))?.id ?? null) : group.active;
  const next = withGroup(state, index, { tabs, active });
  if (tabs.length > 0 || state.groups.length === 1) return next;
  const groups = next.groups.filter((_, other) => other !== index);
  const before = index < state.activeGroup ? state.activeGroup - 1 : state.activeGroup;
  return { groups, activeGroup: Math.min(before, groups.length - 1) };
}

/** Everywhere it is open. */
export function closeEverywhere(state: Groups, id: string): Groups {
  let next = state;
  for (const { id: group } of state.groups) {
    const index = next.groups.findIndex((other) => other.id === group);
    if (index >= 0) next = closeTab(next, index, id);
  }
  return next;
}

/** Takes a tab to a place in another group, or to another place in its own. */
export function moveTab(state: Groups, id: string, from: number, to: number, at: number): Groups {
  const tab = state.groups[from]?.tabs.find((other) => other.id === id);
  const target = state.groups[to];
  if (!tab || !target) return state;
  if (from === to) {
    const rest = target.tabs.filter((other) => other.id !== id);
    const before = target.tabs.findIndex((other) => other.id === id) < at ? at - 1 : at;
    return activate(withGroup(state, to, { tabs: [...rest.slice(0, before), tab, ...rest.slice(before)] }), to, id);
  }
  const others = target.tabs.filter((other) => other.id !== id);
  const placed = withGroup(state, to, { tabs: [...others.slice(0, at), { ...tab, preview: false }, ...others.slice(at)], active: id });
  const closed = closeTab(placed, from, id);
  const index = closed.groups.findIndex((group) => group.id === target.id);
  return { ...closed, activeGroup: index };
}

/** A file or folder has another path now. */
export function renamePath(state: Groups, from: string, to: string): Groups {
  const renamed = (tab: Tab): Tab => {
    const path = movedPath(tab.path, from, to);
    return path === tab.path || tab.kind === "review" ? tab : { ...tab, path, id: `${tab.kind}:${path}` };
  };
  const groups = state.groups.map((group) => {
    const active = group.tabs.find((tab) => tab.id === group.active);
    return { ...group, tabs: group.tabs.map(renamed), active: active ? renamed(active).id : null };
  });
  return { ...state, groups };
}

export function movedPath(path: string, from: string, to: string): string {
  if (path === from) return to;
  return path.startsWith(`${from}/`) ? to + path.slice(from.length) : path;
}

/** The part of the folder that tells tabs of the same name apart; empty where none is needed. */
export function tabFolder(path: string, all: readonly Tab[]): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const clashes = all.some((tab) => tab.path !== path && tab.path.slice(tab.path.lastIndexOf("/") + 1) === name);
  if (!clashes) return "";
  const folder = path.slice(0, Math.max(0, path.length - name.length - 1));
  return folder.slice(folder.lastIndexOf("/") + 1) || ".";
}
