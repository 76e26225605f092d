/**
 * Walks a JSON document at any depth and reports each object at its end, inner objects first. Keeps only the chain of
 * open objects, so memory is bounded by the depth. The document must have passed the strict validator
 * (policy/body/strict-json-validator.ts): the walk checks only the structure, and ends at an error.
 *
 * Names are compared decoded and folded, because some parsers ignore case and all of them decode escapes.
 */
import { CLOSE, FAILED, JsonTokenizer, MORE, NAME, OPEN_ARRAY, OPEN_OBJECT, VALUE } from './json-tokenizer.js';

/** Position of a value: `body[start, end)`. */
export interface JsonSpan {
  readonly start: number;
  readonly end: number;
  /**
   * The decoded member name differs from the spelling that the provider reads.
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
  /** Number of all members, watched or not. */
  memberCount = 0;
  /** The member whose value is being read. */
  member = '';
  isAltSpelling = false;

  constructor(parent: JsonObjectNode | null, ignored: boolean) {
    this.parent = parent;
    this.name = parent?.member ?? '';
    this.rootMember = parent === null ? '' : parent.parent === null ? parent.member : parent.rootMember;
    this.isIgnored = ignored;
  }
}

/** Folds a member's name to the form in which rules compare it. */
export const foldCase = (name: string): string => name.toLowerCase().trim();
const NO_NAMES: ReadonlySet<string> = new Set();

interface WalkOptions {
  /** Without it, names are compared in lower case. */
  readonly foldName?: (name: string) => string;
  /** Names that folding changes although the provider reads them as they are. */
  readonly exactNames?: ReadonlySet<string>;
  /** Folded names of the members to report. */
  readonly watchedMembers: ReadonlySet<string>;
  /** Whether to ignore an object in `member` of `parent`, with all nested objects. */
  shouldIgnore(parent: JsonObjectNode, member: string): boolean;
  /** Called at the end of each object. */
  onObjectEnd(object: JsonObjectNode): void;
}

const QUOTE = 0x22;
/** First bytes of items that are counted. */
const STRINGS_ARRAYS_AND_OBJECTS: ReadonlySet<number> = new Set([QUOTE, 0x5b, 0x7b]);
export const STRINGS: ReadonlySet<number> = new Set([QUOTE]);
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
  { watchedMembers, shouldIgnore, onObjectEnd, foldName = foldCase, exactNames = NO_NAMES }: WalkOptions,
): JsonObjectNode | null {
  const tokens = new JsonTokenizer(false);
  tokens.push(body, 0, body.length);
  /** Open containers, and where they start; null: an array. */
  const open: (JsonObjectNode | null)[] = [];
  const starts: number[] = [];
  let top: JsonObjectNode | null = null;
  let current: JsonObjectNode | null = null;
  let valueCount = 0;
  for (let token = tokens.next(); token !== MORE && token !== FAILED; token = tokens.next()) {
    const isString = token === NAME || (token === VALUE && body[tokens.valueStart] === QUOTE);
    if ((isString || token === OPEN_OBJECT) && ++valueCount > VALUES_MAX) return null;
    switch (token) {
      case NAME: {
        const name = tokens.decodeName() ?? '';
        const member = foldName(name);
        current!.member = member;
        current!.isAltSpelling = name !== member && !exactNames.has(name);
        current!.memberCount++;
        break;
      }
      case OPEN_OBJECT: {
        const ignored: boolean = current !== null && (current.isIgnored || shouldIgnore(current, current.member));
        current = new JsonObjectNode(current, ignored);
        top ??= current;
        open.push(current);
        starts.push(tokens.valueStart);
        break;
      }
      case OPEN_ARRAY:
        open.push(null);
        starts.push(tokens.valueStart);
        break;
      case CLOSE: {
        const object = open.pop()!;
        const container = open[open.length - 1] ?? null;
        if (object !== null) {
          current = object.parent;
          // An array can contain many objects. Keeps only an object that is itself a member's value.
          if (container !== null && watchedMembers.has(object.name)) {
            if (container.objects === NO_OBJECTS) container.objects = new Map();
            container.objects.set(object.name, object);
          }
          onObjectEnd(object);
        }
        const start = starts.pop()!;
        if (container !== null) setValue(body, container, start, tokens.valueEnd, watchedMembers);
        break;
      }
      case VALUE: {
        const container = open[open.length - 1] ?? null;
        if (container !== null) setValue(body, container, tokens.valueStart, tokens.valueEnd, watchedMembers);
      }
    }
  }
  return top;
}

/** Records the value `body[start, end)` of the object's current member. */
function setValue(
  body: Buffer,
  object: JsonObjectNode,
  start: number,
  end: number,
  watched: ReadonlySet<string>,
): void {
  const { member, isAltSpelling } = object;
  if (!watched.has(member) || body[start] === 0x6e) return; // null
  if (object.values === NO_VALUES) object.values = new Map();
  if (object.values.has(member)) object.hasDuplicateMember = true;
  else object.values.set(member, { start, end, isAltSpelling });
}

/** Number of items of these kinds in the array at `span`; 0 when there is no array. */
export function countItems(body: Buffer, span: JsonSpan, kinds = STRINGS_ARRAYS_AND_OBJECTS): number {
  if (body[span.start] !== 0x5b) return 0;
  const tokens = new JsonTokenizer(false);
  tokens.push(body, span.start, span.end);
  tokens.next(); // the array itself
  let items = 0;
  for (let token = tokens.next(); token !== MORE && token !== FAILED; token = tokens.next()) {
    if (token === OPEN_OBJECT || token === OPEN_ARRAY) tokens.skipContainer();
    else if (token === VALUE && kinds.has(body[span.start + tokens.valueStart]!)) items++;
  }
  return items;
}

/** The decoded string at `span`; null when there is no string, or one of more than `bytesMax` bytes. */
export function decodeStringAt(body: Buffer, span: JsonSpan | undefined, bytesMax = NAME_BYTES_MAX): string | null {
  if (span === undefined || body[span.start] !== QUOTE || span.end - span.start > bytesMax) return null;
  const text = body.toString('utf8', span.start, span.end);
  return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
}
