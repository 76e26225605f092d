/**
 * Which of the provider's headers come back to the agent (docs/contract.md#forwarding): all but hop-by-hop ones, `date`,
 * and those that command more than the one answer: the browser's state for the gateway's origin, or the front proxy.
 */
import {
  type CredentialMaskPatterns,
  headerNameContainsCredential,
  maskHeaderValue,
} from './masking/credential-mask.js';

/** One provider answer's head, ready for the agent. */
export interface ResponseHead {
  /**
   * Flat array `[name, value, …]`, lower-case names, in the provider's order. A value that is not plain ASCII is a
   * Buffer, so that its bytes survive. `content-length` is not in it.
   */
  readonly headers: (string | Buffer)[];
  /** -1 when the provider sent none. */
  readonly contentLength: number;
  /** Lower-case media type without parameters; `""` when missing. */
  readonly mediaType: string;
  /** Lower-case `content-encoding`; `""` when missing or `identity`. */
  readonly contentEncoding: string;
  /** Index of the `location` value in `headers`, or -1. */
  readonly locationIndex: number;
}

/**
 * What a browser applies to the whole origin that answered, mostly beyond the one answer. All tenants share the gateway's
 * origin, and its name is not the provider's to speak for. Headers of one document or answer, such as
 * `content-security-policy`, `permissions-policy` and `access-control-*`, come back.
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
  'refresh', // no answer of an API; in a browser it leaves for another page
  'report-to', // reports on the gateway's answers would go to the provider
  'reporting-endpoints',
  'nel',
  'service-worker-allowed', // a script of one tenant would answer for the pages of all
  'origin-agent-cluster',
  'accept-ch', // RFC 8942: kept for the origin
  'set-login',
  'sec-session-registration',
  'secure-session-registration',
  'use-as-dictionary', // RFC 9842: for other answers of the origin
];

/** Answered by a file or address of ours, where a front proxy obeys them; see also {@link isFrontProxyHeader}. */
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
  'date', // the server writes its own on every answer
  ...ORIGIN_WIDE_HEADERS,
  ...FRONT_PROXY_HEADERS,
]);

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const ASCII_VALUE = /^[\t\x20-\x7e]*$/;
const SAFE_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const CONTENT_LENGTH = /^\d{1,15}$/;

/**
 * Reads raw header pairs (`[name, value, …]`, latin1). A name or value that
 * could split the answer, and a name that holds a form of the credential, is left out; the forms are masked in every
 * value. `x-gateway-*` is ours alone.
 */
export function filterResponseHead(raw: readonly string[], forms: CredentialMaskPatterns): ResponseHead {
  const headers: (string | Buffer)[] = [];
  let contentLength = -1;
  let mediaType = '';
  let contentEncoding = '';
  let locationAt = -1;
  const listed = listHopByHopNames(raw);
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = toForwardedName(raw[i]!);
    if (name === '') {
      if (raw[i]!.length === 14) contentLength = parseContentLength(raw[i]!, raw[i + 1]!, contentLength);
      continue;
    }
    if (listed?.has(name) || headerNameContainsCredential(name, forms)) continue;
    const value = raw[i + 1]!;
    const ascii = ASCII_VALUE.test(value);
    if (!ascii && !SAFE_VALUE.test(value)) continue;
    if (name === 'content-type') mediaType = parseMediaType(value);
    else if (name === 'content-encoding') contentEncoding = parseContentEncoding(value);
    else if (name === 'location') locationAt = headers.length + 1;
    const masked = maskHeaderValue(value, forms);
    headers.push(name, ascii ? masked : Buffer.from(masked, 'latin1'));
  }
  return { headers, contentLength, mediaType, contentEncoding, locationIndex: locationAt };
}

/** Names as providers write them → lower case, or `""` when they do not come back. Providers use few, and the same. */
const forwardedNames = new Map<string, string>();
const NAMES_MAX = 2_000;

function toForwardedName(written: string): string {
  const known = forwardedNames.get(written);
  if (known !== undefined) return known;
  const lower = written.toLowerCase();
  const stays =
    DROPPED_HEADERS.has(lower) || lower.startsWith('x-gateway-') || isFrontProxyHeader(lower) || !NAME.test(lower);
  const name = stays ? '' : lower;
  // Not the text itself, which may be a slice that keeps a whole head in memory.
  if (forwardedNames.size < NAMES_MAX && written.length <= 64)
    forwardedNames.set(Buffer.from(written, 'latin1').toString('latin1'), name);
  return name;
}

/** Commands to the front proxy: nginx would fetch another address of ours, with the agent's token, and answer with it. */
const isFrontProxyHeader = (name: string): boolean => name.startsWith('x-accel-');

function parseContentLength(name: string, value: string, otherwise: number): number {
  if (name.toLowerCase() !== 'content-length') return otherwise;
  return CONTENT_LENGTH.test(value) ? Number(value) : otherwise;
}

/** A set: a head has room for thousands of them, and of headers. */
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
