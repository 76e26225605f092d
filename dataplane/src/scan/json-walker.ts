/**
 * Walks a JSON document at any depth and reports each object at its end, inner objects first. Keeps only the chain of
 * open objects, so memory is bounded by the depth. Does not check the grammar: the document must have passed the strict
 * validator (policy/body/strict-json-validator.ts).
 *
 * Names are compared decoded and in lower case, because some parsers ignore case and all of them decode escapes.
 */

/** Position of a value: `body[start, end)`. */
export interface JsonSpan {
  readonly start: number;
  readonly end: number;
  /**
   * The decoded member name differs from the watched name in case or blanks. A case-sensitive provider does not read
   * it.
   */
  readonly isAltSpelling?: boolean;
}

/** Shared empty maps for the many objects without watched members; never changed. */
const NO_VALUES: Map<string, JsonSpan> = new Map();
const NO_OBJECTS: Map<string, JsonObjectNode> = new Map();

export class JsonObjectNode {
  /** The nearest enclosing object; null for the document itself. */
  readonly parent: JsonObjectNode | null;
  /** The member of `parent` that contains this object, directly or inside arrays. */
  readonly name: string;
  /** The top-level member of the document that contains this object. */
  readonly rootMember: string;
  /** This object is, or is inside, an object that `shouldIgnore` selected. */
  readonly isIgnored: boolean;
  /** Watched members that are not null. */
  values: Map<string, JsonSpan> = NO_VALUES;
  /** The watched members that are objects. */
  objects: Map<string, JsonObjectNode> = NO_OBJECTS;
  /** A watched member occurs twice, perhaps in different spellings. */
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
  /** Names of the members to report, in lower case. */
  readonly watchedMembers: ReadonlySet<string>;
  /** Whether to ignore an object in `member` of `parent`, with all nested objects. */
  shouldIgnore(parent: JsonObjectNode, member: string): boolean;
  /** Called at the end of each object. */
  onObjectEnd(object: JsonObjectNode): void;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/**
 * Maximum of strings and objects in one document. The walk blocks the event loop: 250 000 take about 50 ms, and the
 * most that 10 MB can contain would take a second.
 */
const VALUES_MAX = 250_000;
/** Longer than any watched name with every character escaped, in bytes. */
const NAME_BYTES_MAX = 256;

/**
 * Walks the document and returns its top-level object. Null when there is none, or more than {@link VALUES_MAX} strings
 * and objects.
 */
export function walkJson(
  body: Buffer,
  { watchedMembers, shouldIgnore, onObjectEnd }: WalkOptions,
): JsonObjectNode | null {
  /** Open containers; null: an array. */
  const open: (JsonObjectNode | null)[] = [];
  let top: JsonObjectNode | null = null;
  let current: JsonObjectNode | null = null;
  let expectsName = false;
  let valueCount = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]!;
    if ((byte === QUOTE || byte === 0x7b) && ++valueCount > VALUES_MAX) return null;
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
      const ignored: boolean = current !== null && (current.isIgnored || shouldIgnore(current, current.member));
      current = new JsonObjectNode(current, ignored);
      top ??= current;
      open.push(current);
      expectsName = true;
    } else if (byte === 0x5b) {
      open.push(null);
    } else if (byte === 0x2c) {
      const container = open[open.length - 1]!;
      if (container === null) continue;
      endValue(body, container, at, watchedMembers);
      expectsName = true;
    } else if (byte === 0x7d) {
      const object: JsonObjectNode = open.pop()!;
      endValue(body, object, at, watchedMembers);
      expectsName = false;
      current = object.parent;
      // An array can contain many objects. Keeps only an object that is itself a member's value.
      if (current !== null && open[open.length - 1] === current && watchedMembers.has(object.name)) {
        if (current.objects === NO_OBJECTS) current.objects = new Map();
        current.objects.set(object.name, object);
      }
      onObjectEnd(object);
    } else if (byte === 0x5d) open.pop();
  }
  return top;
}

function endValue(body: Buffer, object: JsonObjectNode, at: number, watched: ReadonlySet<string>): void {
  const { member, isAltSpelling } = object;
  let start = object.valueStart;
  object.valueStart = -1;
  if (start === -1 || !watched.has(member)) return;
  let end = at;
  while (start < end && isBlank(body[start]!)) start++;
  while (end > start && isBlank(body[end - 1]!)) end--;
  if (body[start] === 0x6e) return; // null
  if (object.values === NO_VALUES) object.values = new Map();
  if (object.values.has(member)) object.hasDuplicateMember = true;
  else object.values.set(member, { start, end, isAltSpelling: isAltSpelling });
}

/** Number of strings, arrays and objects in the array at `span`; 0 when there is no array. */
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

/** The decoded string at `span`; null when there is no string, or one of more than `bytesMax` bytes. */
export function decodeStringAt(body: Buffer, span: JsonSpan | undefined, bytesMax = NAME_BYTES_MAX): string | null {
  if (span === undefined || body[span.start] !== QUOTE || span.end - span.start > bytesMax) return null;
  const text = body.toString('utf8', span.start, span.end);
  return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
}

/** Index of the quote that ends the string whose content starts at `from`. */
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
