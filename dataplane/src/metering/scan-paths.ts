/** The members that a JsonScanner looks for, as a tree that it walks down with the document. */

/** Where in a document something is wanted. `slot` ≥ 0: report the value found here. */
export interface ScanNode {
  readonly slot: number;
  readonly members: ReadonlyMap<string, ScanNode> | null;
  readonly item: ScanNode | null;
}

/** Compiles `{path: slot}`; `.` separates members, a trailing `[]` of a part means each item of that array. */
export function compilePaths(paths: Readonly<Record<string, number>>): ScanNode {
  const root = newNode();
  for (const [path, slot] of Object.entries(paths)) {
    let node = root;
    for (const part of path.split('.')) {
      const isArray = part.endsWith('[]');
      node = memberOf(node, isArray ? part.slice(0, -2) : part);
      if (isArray) node = itemOf(node);
    }
    node.slot = slot;
  }
  return root;
}

interface MutableNode {
  slot: number;
  members: Map<string, MutableNode> | null;
  item: MutableNode | null;
}

const newNode = (): MutableNode => ({ slot: -1, members: null, item: null });

function memberOf(node: MutableNode, name: string): MutableNode {
  if (name === '') return node; // `[]` alone: the items of a top-level array
  node.members ??= new Map();
  let child = node.members.get(name);
  if (child === undefined) {
    child = newNode();
    node.members.set(name, child);
  }
  return child;
}

function itemOf(node: MutableNode): MutableNode {
  node.item ??= newNode();
  return node.item;
}
