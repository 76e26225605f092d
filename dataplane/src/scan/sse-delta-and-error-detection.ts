/**
 * Classifies an event by the first bytes of its JSON data, without parsing it. Allows blanks between tokens. `from` is
 * the index of the `{`.
 */
const ERROR = Buffer.from('"error"');
const TYPE = Buffer.from('"type"');
const DELTA_END = Buffer.from('delta"');
/** Longest type name that is compared, in bytes. */
const TYPE_BYTES_MAX = 64;

/** Whether the data begins with `{"error"…` or `{"type":"error"…`. */
export function looksLikeErrorEvent(bytes: Buffer, from: number, to: number): boolean {
  const key = skipBlanks(bytes, from + 1, to);
  if (matchesAt(ERROR, bytes, key, to)) return true;
  return matchesAt(TYPE, bytes, key, to) && matchesAt(ERROR, bytes, findTypeValue(bytes, key, to), to);
}

/** Whether the data begins with `{"type":…`, as events of the Responses and Messages APIs do. */
export function startsWithType(bytes: Buffer, from: number, to: number): boolean {
  return matchesAt(TYPE, bytes, skipBlanks(bytes, from + 1, to), to);
}

/** Whether the data begins with `{"type":"…delta"…`: generated content in a stream without event names. */
export function looksLikeDeltaEvent(bytes: Buffer, from: number, to: number): boolean {
  const key = skipBlanks(bytes, from + 1, to);
  if (!matchesAt(TYPE, bytes, key, to)) return false;
  const value = findTypeValue(bytes, key, to);
  const stop = Math.min(to, value + TYPE_BYTES_MAX);
  for (let at = value + 1; at < stop; at++) {
    if (bytes[at] === 0x22) return matchesAt(DELTA_END, bytes, at - DELTA_END.length + 1, to);
  }
  return false;
}

function findTypeValue(bytes: Buffer, key: number, to: number): number {
  const colon = skipBlanks(bytes, key + TYPE.length, to);
  return skipBlanks(bytes, colon + 1, to);
}

function skipBlanks(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at]! <= 0x20) at++;
  return at;
}

function matchesAt(text: Buffer, bytes: Buffer, from: number, to: number): boolean {
  if (from + text.length > to) return false;
  for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text[i]) return false;
  return true;
}
