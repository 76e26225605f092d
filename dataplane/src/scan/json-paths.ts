/** The members that a JsonScanner reports, compiled into a tree that the scanner descends along with the document. */

/**
 * One position in a document. `slot` ≥ 0: report the value found here. -1: this is only a step on the way to others.
 */
export interface JsonPathNode {
  readonly slot: number;
  readonly members: ReadonlyMap<string, JsonPathNode> | null;
  /** The same members by the byte length of their names. */
  readonly membersByLength: readonly (readonly JsonPathMember[] | undefined)[];
  readonly item: JsonPathNode | null;
}

interface JsonPathMember {
  readonly name: Buffer;
  readonly node: JsonPathNode;
}

/** Node of the member with the name `bytes[from, to)` (without escapes); null when no path contains it. */
export function findMember(node: JsonPathNode, bytes: Buffer, from: number, to: number): JsonPathNode | null {
  const candidates = node.membersByLength[to - from];
  if (candidates === undefined) return null;
  for (let c = 0; c < candidates.length; c++) {
    const { name } = candidates[c]!;
    let i = 0;
    while (i < name.length && name[i] === bytes[from + i]) i++;
    if (i === name.length) return candidates[c]!.node;
  }
  return null;
}

/** Compiles `{path: slot}`. `.` separates members; a trailing `[]` of a part means each item of that array. */
export function compileJsonPaths(paths: Readonly<Record<string, number>>): JsonPathNode {
  const root = createNode();
  for (const [path, slot] of Object.entries(paths)) {
    let node = root;
    for (const part of path.split('.')) {
      const isArray = part.endsWith('[]');
      node = getOrCreateMember(node, isArray ? part.slice(0, -2) : part);
      if (isArray) node = getOrCreateItem(node);
    }
    node.slot = slot;
  }
  return root;
}

interface MutableNode {
  slot: number;
  members: Map<string, MutableNode> | null;
  membersByLength: JsonPathMember[][];
  item: MutableNode | null;
}

const createNode = (): MutableNode => ({ slot: -1, members: null, membersByLength: [], item: null });

function getOrCreateMember(node: MutableNode, name: string): MutableNode {
  if (name === '') return node; // `[]` alone: the items of a top-level array
  node.members ??= new Map();
  let child = node.members.get(name);
  if (child === undefined) {
    child = createNode();
    node.members.set(name, child);
    const bytes = Buffer.from(name);
    node.membersByLength[bytes.length] ??= [];
    node.membersByLength[bytes.length]!.push({ name: bytes, node: child });
  }
  return child;
}

function getOrCreateItem(node: MutableNode): MutableNode {
  node.item ??= createNode();
  return node.item;
}
