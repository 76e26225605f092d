/**
 * Rewrites absolute provider URLs in responses so that clients that follow them stay on the gateway
 * (docs/contract.md#forwarding). Changes only the headers of {@link URL_HEADERS} and the batch objects of Anthropic's
 * format. Time is linear in the value and the number of the provider's origins.
 */
import type { Upstream } from '../context/agent-context.js';
import { PROXY_PREFIX } from './parse-proxy-request-target.js';

/** Response headers whose URLs clients follow: redirects, pages (RFC 8288) and Google's resumable uploads. */
export const URL_HEADERS: ReadonlySet<string> = new Set([
  'location',
  'link',
  'x-goog-upload-url',
  'x-goog-upload-control-url',
]);

/** An origin of the provider. `basePath`: as response headers have it, so with a credential in it masked. */
export type RewrittenOrigin = Pick<Upstream, 'origin' | 'basePath' | 'proxyName'>;

/** Bounds the growth of a response head: a rewritten URL can be longer than the provider's. */
const LINKS_MAX = 64;

/**
 * Rewrites the value of one of {@link URL_HEADERS}; other URLs stay unchanged. `origins`: those of the provider, first
 * the one that sent the response. `gatewayUrl`: base URL under which agents reach the gateway. `Location` becomes a
 * path, which is valid for every host name of the gateway; SDKs accept only absolute URLs in the other headers.
 */
export function rewriteUrlHeader(
  name: string,
  value: string,
  origins: readonly RewrittenOrigin[],
  gatewayUrl: () => string,
): string {
  if (name === 'link') return rewriteLinks(value, origins, gatewayUrl);
  const path = toProxyPath(value, origins);
  if (path === null) return value;
  return name === 'location' ? path : gatewayUrl() + path;
}

/** Rewrites each `<URL>` of a `Link` value, at most {@link LINKS_MAX}. */
function rewriteLinks(value: string, origins: readonly RewrittenOrigin[], gatewayUrl: () => string): string {
  let out = '';
  let copied = 0;
  for (let count = 0, open = value.indexOf('<'); open !== -1 && count < LINKS_MAX; count++) {
    const close = value.indexOf('>', open);
    if (close === -1) break;
    const path = toProxyPath(value.slice(open + 1, close), origins);
    if (path !== null) {
      out += value.slice(copied, open + 1) + gatewayUrl() + path;
      copied = close;
    }
    open = value.indexOf('<', close);
  }
  return out + value.slice(copied);
}

/** Path of the proxy for a URL of one of the origins, or for a path of the first one; null for any other URL. */
function toProxyPath(url: string, origins: readonly RewrittenOrigin[]): string | null {
  const own = origins[0]!;
  if (url.startsWith('/') && !url.startsWith('//')) return toPathOf(own, url);
  const absolute = url.startsWith('//') ? own.origin.slice(0, own.origin.indexOf('//')) + url : url;
  for (const upstream of origins) {
    const rest = stripOrigin(absolute, upstream.origin);
    const path = rest === null ? null : toPathOf(upstream, rest);
    if (path !== null) return path;
  }
  return null;
}

function toPathOf({ basePath, proxyName }: RewrittenOrigin, path: string): string | null {
  const inside = stripBasePath(path, basePath);
  return inside === null ? null : `${PROXY_PREFIX}${proxyName}${inside}`;
}

/** Text after `origin` when `url` has this origin (host in any case), else null. */
function stripOrigin(url: string, origin: string): string | null {
  if (url.length < origin.length || url.slice(0, origin.length).toLowerCase() !== origin.toLowerCase()) return null;
  const rest = url.slice(origin.length);
  if (rest === '' || rest[0] === '/') return rest;
  return rest[0] === '?' || rest[0] === '#' ? `/${rest}` : null; // `https://host.evil` or another port
}

function stripBasePath(path: string, basePath: string): string | null {
  if (!path.startsWith(basePath)) return null;
  const rest = path.slice(basePath.length);
  return rest === '' || rest[0] === '/' || rest[0] === '?' || rest[0] === '#' ? rest : null;
}

const BATCHES_PATH = '/v1/messages/batches';
const RESULTS_MEDIA = 'application/json';

/**
 * Creates the body rewriter of a response, or returns null where the body stays unchanged (nearly all responses).
 * `gatewayUrl`: base URL under which agents reach the gateway; the SDK accepts only absolute URLs here.
 */
export function createAnthropicBatchUrlRewriter(
  upstream: Upstream,
  providerPath: string,
  mediaType: string,
  contentEncoding: string,
  gatewayUrl: () => string,
): BodyUrlRewriter | null {
  if (upstream.usageFormat !== 'anthropic' || mediaType !== RESULTS_MEDIA || contentEncoding !== '') return null;
  if (!providerPath.startsWith(BATCHES_PATH)) return null;
  return new BodyUrlRewriter(
    `${upstream.origin}${upstream.basePath}${BATCHES_PATH}/`,
    `${gatewayUrl()}${PROXY_PREFIX}${upstream.proxyName}${BATCHES_PATH}/`,
  );
}

/**
 * Replaces one text by another in a stream of any chunking. Changes the body length, so the response must not have a
 * `content-length`.
 */
export class BodyUrlRewriter {
  readonly #from: Buffer;
  readonly #to: Buffer;
  #held: Buffer = Buffer.alloc(0);

  constructor(from: string, to: string) {
    this.#from = Buffer.from(from);
    this.#to = Buffer.from(to);
  }

  /** Returns the bytes to send now. Holds back a tail that may be the beginning of the text. */
  push(chunk: Buffer): Buffer {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const parts: Buffer[] = [];
    let start = 0;
    for (let at = bytes.indexOf(this.#from); at !== -1; at = bytes.indexOf(this.#from, start)) {
      parts.push(bytes.subarray(start, at), this.#to);
      start = at + this.#from.length;
    }
    const tail = bytes.subarray(start);
    const held = lengthOfPartialMatchAtEnd(tail, this.#from);
    this.#held = Buffer.from(tail.subarray(tail.length - held));
    parts.push(tail.subarray(0, tail.length - held));
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  flush(): Buffer {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return rest;
  }
}

/**
 * Length of the longest proper prefix of `pattern` that `bytes` ends with; 0 when there is none. Tests only the
 * occurrences of the pattern's first byte in the last `pattern.length - 1` bytes.
 */
function lengthOfPartialMatchAtEnd(bytes: Buffer, pattern: Buffer): number {
  const windowStart = Math.max(0, bytes.length - pattern.length + 1);
  const first = pattern[0]!;
  for (let at = bytes.indexOf(first, windowStart); at !== -1; at = bytes.indexOf(first, at + 1)) {
    const length = bytes.length - at;
    if (bytes.compare(pattern, 0, length, at, bytes.length) === 0) return length;
  }
  return 0;
}
