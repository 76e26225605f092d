/**
 * Two ways to read a path for rules. Allow rules match strictly: a path in another spelling than the rule matches none
 * and is rejected. Deny rules match leniently: in every way in which a provider might read the path.
 */

const PERCENT = 0x25;

/** Splits a path after decoding only escapes of unreserved characters: `%2F` never becomes a slash. */
export function splitPathStrictly(path: string): string[] {
  return decodeUnreserved(path).slice(1).split('/');
}

const UNRESERVED_ESCAPE = /%(?:2[de]|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/gi;
const UNRESERVED = /^[A-Za-z0-9._~-]$/;

function decodeUnreserved(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(UNRESERVED_ESCAPE, (code) => {
    const char = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return UNRESERVED.test(char) ? char : code;
  });
}

/**
 * Splits a path after full decoding: lower case, no empty segments, without `;` and what follows it, dot segments
 * resolved.
 */
export function splitPathLeniently(path: string): string[] {
  const segments: string[] = [];
  for (const part of normalizeLeniently(path).split(/[/\\]/)) {
    const semicolon = part.indexOf(';');
    const segment = semicolon === -1 ? part : part.slice(0, semicolon);
    if (segment === '' || segment === '.') continue;
    if (segment === '..') segments.pop();
    else segments.push(segment);
  }
  return segments;
}

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
