/**
 * Two ways to read a path for rules. Allow rules match strictly: a path in another spelling than the rule matches none
 * and is rejected; an encoded slash needs a rule that says so. Deny rules match leniently: in every way in which a
 * provider might read the path.
 */

const PERCENT = 0x25;

/** Splits a path after decoding only escapes of unreserved characters: `%2f` becomes `%2F`, never a slash. */
export function splitPathStrictly(path: string): string[] {
  return decodeUnreserved(path).slice(1).split('/');
}

const ENCODED_SLASH = /%(?:25)*2f/i;
const LOWER_CASE_SLASHES = /%(?:25)*2f/g;

/** Whether a strictly split segment holds an encoded slash, which some servers decode before they split a path. */
export const hasEncodedSlash = (segment: string): boolean => ENCODED_SLASH.test(segment);

const UNRESERVED_ESCAPE = /%(?:2[de]|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/gi;
const UNRESERVED = /^[A-Za-z0-9._~-]$/;

function decodeUnreserved(path: string): string {
  if (!path.includes('%')) return path;
  const decoded = path.replace(UNRESERVED_ESCAPE, (code) => {
    const char = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return UNRESERVED.test(char) ? char : code;
  });
  return decoded.replace(LOWER_CASE_SLASHES, (code) => code.toUpperCase());
}

/**
 * Splits a path after full decoding: lower case, no empty segments, without `;` and what follows it, dot segments
 * resolved.
 */
export const splitPathLeniently = (path: string): string[] =>
  resolveSegments(normalizeLeniently(path).split(SEPARATOR));

const SEPARATOR = /[/\\]/;
/** Servers decode a path at most this often before they split it; more often only until nothing changes. */
const DECODINGS_MAX = 2;

/**
 * Splits a path leniently in each way that servers do: an encoded slash (`%2F`) separates segments where the server
 * decodes the path first, and is part of a segment where it splits first. At most {@link DECODINGS_MAX} + 2 readings;
 * one where the path has no encoded slash.
 */
export function splitPathInEachReading(path: string): string[][] {
  const all = normalizeLeniently(path).split(SEPARATOR);
  const readings = [resolveSegments(all)];
  if (!path.includes('%')) return readings;
  let text = path;
  for (let decodings = 0; decodings <= DECODINGS_MAX; decodings++) {
    const parts = text.split(SEPARATOR);
    if (parts.length === all.length) break;
    readings.push(resolveSegments(parts.map(normalizeLeniently)));
    text = decodeOnce(text);
  }
  return readings;
}

function resolveSegments(parts: readonly string[]): string[] {
  const segments: string[] = [];
  for (const part of parts) {
    const semicolon = part.indexOf(';');
    const segment = semicolon === -1 ? part : part.slice(0, semicolon);
    if (segment === '' || segment === '.') continue;
    if (segment === '..') segments.pop();
    else segments.push(segment);
  }
  return segments;
}

/** Decodes each escape of an ASCII character once. */
const decodeOnce = (text: string): string =>
  text.replace(/%([0-7][0-9a-f])/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** Decodes until nothing changes and folds case. Unicode-compatible letters (NFKC) become equal. */
export function normalizeLeniently(text: string): string {
  if (!text.includes('%')) return text.toLowerCase();
  const decoded = decodeFully(text);
  return isAscii(decoded)
    ? decoded.toLowerCase()
    : Buffer.from(decoded, 'latin1').toString('utf8').normalize('NFKC').toLowerCase();
}

/**
 * Decodes every escape, also those that decoding produces, in one pass. Decoded bytes are pushed onto a stack; when its
 * last three are an escape, one byte replaces them. Returns latin1 text.
 */
function decodeFully(text: string): string {
  const stack = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    stack[length++] = text.charCodeAt(i);
    while (length >= 3 && stack[length - 3] === PERCENT) {
      const high = hexValue(stack[length - 2]!);
      const low = hexValue(stack[length - 1]!);
      if (high < 0 || low < 0) break;
      length -= 2;
      stack[length - 1] = high * 16 + low;
    }
  }
  return stack.toString('latin1', 0, length);
}

function hexValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}
