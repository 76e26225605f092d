/**
 * Selects the provider's response headers that return to the agent (docs/contract.md#forwarding). Drops hop-by-hop
 * headers, `date`, and headers whose effect goes beyond this one response: browser state for the gateway's origin, and
 * commands to a front proxy.
 */
import {
  type CredentialMaskPatterns,
  headerNameContainsCredential,
  maskHeaderValue,
} from './masking/credential-mask.js';
import { URL_HEADERS } from './response-url-rewrite.js';

/** Head of a provider's response, filtered and masked for the agent. */
export interface ResponseHead {
  /**
   * Flat array `[name, value, …]`, lower-case names, in the provider's order, without `content-length`. A value that is
   * not plain ASCII is a Buffer, so that its bytes are kept.
   */
  readonly headers: (string | Buffer)[];
  /** Bytes; -1 when the provider sent none. */
  readonly contentLength: number;
  /** Lower-case media type without parameters; `""` when missing. */
  readonly mediaType: string;
  /** Lower-case `content-encoding`; `""` when missing or `identity`. */
  readonly contentEncoding: string;
  /** Indexes in `headers` of the names whose values hold URLs that clients follow; null for none. */
  readonly urlHeaderIndexes: readonly number[] | null;
}

/**
 * Headers that a browser applies to the whole origin of the response. All tenants share the gateway's origin, so a
 * provider must not set state for it. Headers of a single document or response, such as `content-security-policy`,
 * `permissions-policy` and `access-control-*`, are forwarded.
 */
const ORIGIN_WIDE_HEADERS = [
  'set-cookie',
  'set-cookie2',
  'alt-svc', // RFC 7838: moves the gateway's calls to a host of the provider's choice
  'strict-transport-security', // RFC 6797: for all subdomains, for years
  'public-key-pins',
  'public-key-pins-report-only',
  'expect-ct',
  'clear-site-data',
  'refresh', // no API needs it; a browser would navigate to another page
  'report-to', // reports on the gateway's answers would go to the provider
  'reporting-endpoints',
  'nel',
  'service-worker-allowed', // a script of one tenant would control the pages of all
  'origin-agent-cluster',
  'accept-ch', // RFC 8942: stored for the origin
  'set-login',
  'sec-session-registration',
  'secure-session-registration',
  'use-as-dictionary', // RFC 9842: applies to other responses of the origin
];

/** A front proxy replaces the response by a local file or an internal address; see also {@link isNginxAccelHeader}. */
const FRONT_PROXY_HEADERS = [
  'x-sendfile',
  'x-lighttpd-send-file',
  'x-lighttpd-send-tempfile',
  'x-litespeed-location',
  'x-reproxy-url',
  'x-reproxy-file',
];

const DROPPED_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authentication-info',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'date', // the server writes its own `date` on every response
  ...ORIGIN_WIDE_HEADERS,
  ...FRONT_PROXY_HEADERS,
]);

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const ASCII_VALUE = /^[\t\x20-\x7e]*$/;
const SAFE_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const CONTENT_LENGTH = /^\d{1,15}$/;

/**
 * Reads raw header pairs (`[name, value, …]`, latin1). Drops names and values that could split the response, names that
 * contain a form of the credential, and `x-gateway-*`, which only the gateway sets. Masks the credential forms in every
 * value.
 */
export function filterResponseHead(raw: readonly string[], maskPatterns: CredentialMaskPatterns): ResponseHead {
  const headers: (string | Buffer)[] = [];
  let contentLength = -1;
  let mediaType = '';
  let contentEncoding = '';
  let urlHeaderIndexes: number[] | null = null;
  const listed = listHopByHopNames(raw);
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = toForwardedNameOrEmpty(raw[i]!);
    if (name === '') {
      if (raw[i]!.length === 14) contentLength = parseContentLength(raw[i]!, raw[i + 1]!, contentLength);
      continue;
    }
    if (listed?.has(name) || headerNameContainsCredential(name, maskPatterns)) continue;
    const value = raw[i + 1]!;
    const ascii = ASCII_VALUE.test(value);
    if (!ascii && !SAFE_VALUE.test(value)) continue;
    if (name === 'content-type') mediaType = parseMediaType(value);
    else if (name === 'content-encoding') contentEncoding = parseContentEncoding(value);
    else if (URL_HEADERS.has(name)) {
      urlHeaderIndexes ??= [];
      urlHeaderIndexes.push(headers.length);
    }
    const masked = maskHeaderValue(value, maskPatterns);
    headers.push(name, ascii ? masked : Buffer.from(masked, 'latin1'));
  }
  return { headers, contentLength, mediaType, contentEncoding, urlHeaderIndexes };
}

/**
 * Cache from a name as the provider writes it to its lower-case form, or `""` for a dropped header. Providers use few
 * different names.
 */
const forwardedNames = new Map<string, string>();
const NAMES_MAX = 2_000;

function toForwardedNameOrEmpty(receivedName: string): string {
  const known = forwardedNames.get(receivedName);
  if (known !== undefined) return known;
  const lower = receivedName.toLowerCase();
  const isDropped =
    DROPPED_HEADERS.has(lower) || lower.startsWith('x-gateway-') || isNginxAccelHeader(lower) || !NAME.test(lower);
  const name = isDropped ? '' : lower;
  // Stores a copy: the text may be a slice that keeps the whole response head in memory.
  if (forwardedNames.size < NAMES_MAX && receivedName.length <= 64)
    forwardedNames.set(Buffer.from(receivedName, 'latin1').toString('latin1'), name);
  return name;
}

/**
 * Commands to the front proxy. nginx would fetch an internal address with the agent's token and respond with its
 * content.
 */
const isNginxAccelHeader = (name: string): boolean => name.startsWith('x-accel-');

function parseContentLength(name: string, value: string, otherwise: number): number {
  if (name.toLowerCase() !== 'content-length') return otherwise;
  return CONTENT_LENGTH.test(value) ? Number(value) : otherwise;
}

/**
 * Lower-case names that `Connection` declares hop-by-hop; null for none. A set, because a response head can have
 * thousands of names.
 */
function listHopByHopNames(raw: readonly string[]): Set<string> | null {
  let listed: Set<string> | null = null;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!;
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue;
    for (const part of raw[i + 1]!.toLowerCase().split(',')) {
      const entry = part.trim();
      if (entry === '' || entry === 'keep-alive' || entry === 'close') continue;
      listed ??= new Set();
      listed.add(entry);
    }
  }
  return listed;
}

function parseMediaType(value: string): string {
  const semicolon = value.indexOf(';');
  return (semicolon === -1 ? value : value.slice(0, semicolon)).trim().toLowerCase();
}

function parseContentEncoding(value: string): string {
  const encoding = value.trim().toLowerCase();
  return encoding === 'identity' ? '' : encoding;
}
