/**
 * Walks a JSON document at any depth and reports each object when it ends, inner ones first. Builds nothing but the chain
 * of open objects: memory is bounded by the depth. The document must have passed a strict reader (policy/strict-json.ts)
 * before: its grammar is not checked again.
 *
 * Names are compared decoded and in lower case, because some parsers ignore case and all of them read escapes.
 */

/** Where a value stands: `body[start, end)`. */
export interface JsonSpan {
  readonly start: number;
  readonly end: number;
  /** Its member is not spelled as it is looked for, once decoded: a provider that minds the case does not read it. */
  readonly isAltSpelling?: boolean;
}

/** Most objects have nothing that is looked for: these stand for it and are never changed. */
const NO_VALUES: Map<string, JsonSpan> = new Map();
const NO_OBJECTS: Map<string, JsonObjectNode> = new Map();

export class JsonObjectNode {
  /** The nearest object around this one; null for the document itself. */
  readonly parent: JsonObjectNode | null;
  /** The member of `parent` in which this object stands, directly or inside arrays. */
  readonly name: string;
  /** The member of the document in which this object stands. */
  readonly rootMember: string;
  /** Stands inside an object that the walk was told to ignore. */
  readonly isIgnored: boolean;
  /** Members that are looked for and are not null. */
  values: Map<string, JsonSpan> = NO_VALUES;
  /** Those of them that are objects. */
  objects: Map<string, JsonObjectNode> = NO_OBJECTS;
  /** A member that is looked for is there in two spellings. */
  hasDuplicateMember = false;
  /** The member whose value is being read. */
  member = '';
  isAltSpelling = false;
  valueStart = -1;

  constructor(parent: JsonObjectNode | null, ignored: boolean) {
    this.parent = parent;
    this.name = parent?.member ?? '';
    this.rootMember = parent === null ? '' : parent.parent === null ? parent.member : parent.rootMember;
    this.isIgnored = ignored;
  }
}

interface WalkOptions {
  /** Members that are looked for, in lower case. */
  readonly watchedMembers: ReadonlySet<string>;
  /** Whether an object in `member` of `parent` is to be ignored, with all that is in it. */
  shouldIgnore(parent: JsonObjectNode, member: string): boolean;
  /** An object has ended. */
  onObjectEnd(object: JsonObjectNode): void;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/**
 * Strings and objects of one document. The walk is one turn of the event loop: 250 000 take some 50 ms, and the most that
 * 10 MB can hold would take a second.
 */
const VALUES_MAX = 250_000;
/** No member that is looked for is longer, each of its characters escaped. */
const NAME_BYTES_MAX = 256;

/** The document; null where it is no object, or has more than {@link VALUES_MAX} strings and objects. */
export function walkJson(
  body: Buffer,
  { watchedMembers: watched, shouldIgnore: ignores, onObjectEnd: ended }: WalkOptions,
): JsonObjectNode | null {
  /** Open containers; null: an array. */
  const open: (JsonObjectNode | null)[] = [];
  let top: JsonObjectNode | null = null;
  let current: JsonObjectNode | null = null;
  let expectsName = false;
  let parts = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]!;
    if ((byte === QUOTE || byte === 0x7b) && ++parts > VALUES_MAX) return null;
    if (byte === QUOTE) {
      const close = findStringEnd(body, at + 1);
      if (expectsName) {
        const name = decodeStringAt(body, { start: at, end: close + 1 }) ?? '';
        current!.member = name.toLowerCase().trim();
        current!.isAltSpelling = name !== current!.member;
        expectsName = false;
      }
      at = close;
    } else if (byte === 0x3a) {
      current!.valueStart = at + 1;
    } else if (byte === 0x7b) {
      const ignored: boolean = current !== null && (current.isIgnored || ignores(current, current.member));
      current = new JsonObjectNode(current, ignored);
      top ??= current;
      open.push(current);
      expectsName = true;
    } else if (byte === 0x5b) {
      open.push(null);
    } else if (byte === 0x2c) {
      const container = open[open.length - 1]!;
      if (container === null) continue;
      endValue(body, container, at, watched);
      expectsName = true;
    } else if (byte === 0x7d) {
      const object: JsonObjectNode = open.pop()!;
      endValue(body, object, at, watched);
      expectsName = false;
      current = object.parent;
      // In an array there may be many: only what is a member's value itself is kept.
      if (current !== null && open[open.length - 1] === current && watched.has(object.name)) {
        if (current.objects === NO_OBJECTS) current.objects = new Map();
        current.objects.set(object.name, object);
      }
      ended(object);
    } else if (byte === 0x5d) open.pop();
  }
  return top;
}

function endValue(body: Buffer, object: JsonObjectNode, at: number, watched: ReadonlySet<string>): void {
  const { member, isAltSpelling: isRespelled } = object;
  let start = object.valueStart;
  object.valueStart = -1;
  if (start === -1 || !watched.has(member)) return;
  let end = at;
  while (start < end && isBlank(body[start]!)) start++;
  while (end > start && isBlank(body[end - 1]!)) end--;
  if (body[start] === 0x6e) return; // null
  if (object.values === NO_VALUES) object.values = new Map();
  if (object.values.has(member)) object.hasDuplicateMember = true;
  else object.values.set(member, { start, end, isAltSpelling: isRespelled });
}

/** Items of the array at `span`: strings, and arrays and objects; 0 where no array is there. */
export function countItems(body: Buffer, span: JsonSpan): number {
  if (body[span.start] !== 0x5b) return 0;
  let items = 0;
  let depth = 0;
  for (let at = span.start + 1; at < span.end - 1; at++) {
    const byte = body[at]!;
    if (byte === QUOTE) {
      if (depth === 0) items++;
      at = findStringEnd(body, at + 1);
    } else if (byte === 0x5b || byte === 0x7b) {
      if (depth++ === 0) items++;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return items;
}

/** The decoded string at `span`; null where no string is there, or one of more than `bytesMax` bytes. */
export function decodeStringAt(body: Buffer, span: JsonSpan | undefined, bytesMax = NAME_BYTES_MAX): string | null {
  if (span === undefined || body[span.start] !== QUOTE || span.end - span.start > bytesMax) return null;
  const text = body.toString('utf8', span.start, span.end);
  return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
}

/** Index of the quote that ends the string whose first byte is at `from`. */
function findStringEnd(body: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const quote = body.indexOf(QUOTE, at);
    if (quote === -1) return body.length;
    let backslashes = 0;
    while (quote - backslashes > at && body[quote - backslashes - 1] === BACKSLASH) backslashes++;
    if ((backslashes & 1) === 0) return quote;
    at = quote + 1;
  }
}

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
