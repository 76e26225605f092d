/**
 * Parses the request target of the proxy, `/v1/proxy/{slug}[:{origin}]{rest}[?{query}]`, as raw text. A URL parser would resolve
 * dot segments and read `//host` as another host (docs/contract.md#forwarding).
 */

export interface ProxyTarget {
  readonly slug: string;
  /** The slug, or `slug:origin`. */
  readonly proxyName: string;
  /** The provider's own path, byte for byte: `""` or starting with `/`. */
  readonly providerPath: string;
  /** Raw query without `?`. Null when the target has no `?`, `""` when nothing follows the `?`. */
  readonly query: string | null;
  readonly shape: PathShape;
}

/**
 * - regular: any provider may receive it.
 * - keyed: contains dot segments or encoded control bytes. Only object keys (S3) may.
 * - escaping: as keyed, and its dot segments would climb above the first segment when resolved.
 */
type PathShape = 'regular' | 'keyed' | 'escaping';

/** not_proxy: not a path of the proxy (404). malformed: invalid for every provider (400). */
type TargetError = 'not_proxy' | 'malformed';

export const PROXY_PREFIX = '/v1/proxy/';
/** Longest accepted target, in bytes. */
export const TARGET_BYTES_MAX = 8192;
const SLUG_LENGTH_MAX = 40;
const ORIGIN_LENGTH_MAX = 20;

const SLASH = 0x2f;
const COLON = 0x3a;
const PERCENT = 0x25;
const QUESTION = 0x3f;
const HASH = 0x23;
const BACKSLASH = 0x5c;

/** Parses a raw request target. Pure; one pass over the text. */
export function parseProxyRequestTarget(raw: string): ProxyTarget | TargetError {
  if (!raw.startsWith(PROXY_PREFIX)) return 'not_proxy';
  if (raw.length > TARGET_BYTES_MAX) return 'malformed';
  const slugEnd = findNameEnd(raw, PROXY_PREFIX.length, SLUG_LENGTH_MAX);
  if (slugEnd === -1) return 'not_proxy';
  const slug = raw.slice(PROXY_PREFIX.length, slugEnd);
  let nameEnd = slugEnd;
  if (raw.charCodeAt(slugEnd) === COLON) {
    nameEnd = findNameEnd(raw, slugEnd + 1, ORIGIN_LENGTH_MAX);
    if (nameEnd === -1 || raw.charCodeAt(nameEnd) === COLON) return 'not_proxy';
  }
  const pathEnd = findValidPathEnd(raw, nameEnd);
  if (pathEnd === -1) return 'malformed';
  let query: string | null = null;
  if (pathEnd < raw.length) {
    if (!hasOnlyTargetBytes(raw, pathEnd + 1)) return 'malformed';
    query = raw.slice(pathEnd + 1);
  }
  const rest = raw.slice(nameEnd, pathEnd);
  const proxyName = nameEnd === slugEnd ? slug : raw.slice(PROXY_PREFIX.length, nameEnd);
  return { slug, proxyName, providerPath: rest, query, shape: classifyPathShape(rest) };
}

/** Path of the upstream request: `basePath` and `providerPath` joined byte for byte; `/` when both are empty. */
export function joinUpstreamPath(basePath: string, providerPath: string): string {
  const path = basePath + providerPath;
  return path === '' ? '/' : path;
}

/**
 * Whether an upstream may receive a path of this shape. `allowsObjectKeys`: paths of this provider are object keys
 * (SigV4).
 */
export function isPathAllowed(shape: PathShape, allowsObjectKeys: boolean, basePath: string): boolean {
  if (shape === 'regular') return true;
  // Object keys may contain `..`, but must not climb out of the endpoint's own base path.
  return allowsObjectKeys && (shape === 'keyed' || basePath === '');
}

/** Index after a well-formed name (`[a-z0-9-]{1,lengthMax}`) that begins at `start`, or -1. */
function findNameEnd(raw: string, start: number, lengthMax: number): number {
  const limit = Math.min(raw.length, start + lengthMax + 1);
  let at = start;
  for (; at < limit; at++) {
    const c = raw.charCodeAt(at);
    const nameByte = (c >= 0x61 && c <= 0x7a) || (c >= 0x30 && c <= 0x39) || c === 0x2d;
    if (nameByte) continue;
    if (c !== SLASH && c !== QUESTION && c !== COLON) return -1;
    break;
  }
  const length = at - start;
  return length === 0 || length > lengthMax ? -1 : at;
}

/** Index of the `?` or the end of the text. -1 for a byte that a path must not contain, or a broken percent escape. */
function findValidPathEnd(raw: string, from: number): number {
  let at = from;
  for (; at < raw.length; at++) {
    const c = raw.charCodeAt(at);
    if (c === QUESTION) break;
    if (!isAllowedTargetByte(c)) return -1;
    if (c === PERCENT && (!isHex(raw.charCodeAt(at + 1)) || !isHex(raw.charCodeAt(at + 2)))) return -1;
  }
  return at;
}

function hasOnlyTargetBytes(raw: string, from: number): boolean {
  for (let at = from; at < raw.length; at++) {
    if (!isAllowedTargetByte(raw.charCodeAt(at))) return false;
  }
  return true;
}

const isAllowedTargetByte = (c: number): boolean => c > 0x20 && c < 0x7f && c !== HASH && c !== BACKSLASH;

const isHex = (c: number): boolean => (c >= 0x30 && c <= 0x39) || (c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66);

/** Returns early for paths without `.` and `%`; these are always regular. */
function classifyPathShape(providerPath: string): PathShape {
  if (!providerPath.includes('.') && !providerPath.includes('%')) return 'regular';
  const plain = decodeStructuralEscapes(providerPath);
  let shape: PathShape = 'regular';
  let depth = 0;
  let start = 1;
  for (let at = 1; at <= plain.length; at++) {
    const c = at < plain.length ? plain.charCodeAt(at) : SLASH;
    if (c < 0x20 || c === 0x7f || c === BACKSLASH) shape = shape === 'escaping' ? shape : 'keyed';
    if (c !== SLASH && c !== BACKSLASH) continue;
    const dots = countSegmentDots(plain, start, at);
    if (dots > 0 && shape === 'regular') shape = 'keyed';
    if (dots === 2) depth--;
    else if (dots === 0 && at > start) depth++;
    if (depth < 0) shape = 'escaping';
    start = at + 1;
  }
  return shape;
}

/** 1 for `.`, 2 for `..`, else 0. Ignores `;parameters`, which some servers remove before they resolve dot segments. */
function countSegmentDots(path: string, start: number, end: number): 0 | 1 | 2 {
  const semicolon = path.indexOf(';', start);
  const stop = semicolon !== -1 && semicolon < end ? semicolon : end;
  if (stop - start === 1 && path[start] === '.') return 1;
  return stop - start === 2 && path[start] === '.' && path[start + 1] === '.' ? 2 : 0;
}

const ESCAPED_STRUCTURE = /%(?:25)?(2e|2f|5c|[01][0-9a-f]|7f)/gi;

/** Decodes the escapes that can hide structure (dot, slash, backslash, control bytes), encoded once or twice. */
function decodeStructuralEscapes(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(ESCAPED_STRUCTURE, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
