/**
 * Absolute URLs of the provider in answers that clients follow would lead past the gateway
 * (docs/contract.md#forwarding): they are pointed back at the proxy. Only `Location` and the batch objects of
 * Anthropic's format are touched.
 */
import type { Upstream } from '../context/agent-context.js';
import { longestPartialSuffix } from './partial-match.js';
import { PROXY_PREFIX } from './proxy-target.js';

/**
 * A `Location` value as the agent must see it. What points into the upstream becomes a path of the proxy (valid for
 * every client, whatever name it reached the gateway by); every other address stays as it is.
 */
export function rewriteLocation(value: string, upstream: Upstream): string {
  let path = value;
  if (!value.startsWith('/') || value.startsWith('//')) {
    const absolute = value.startsWith('//') ? upstream.origin.slice(0, upstream.origin.indexOf('//')) + value : value;
    const rest = stripOrigin(absolute, upstream.origin);
    if (rest === null) return value;
    path = rest;
  }
  const inside = stripBasePath(path, upstream.basePath);
  return inside === null ? value : `${PROXY_PREFIX}${upstream.providerSlug}${inside}`;
}

/** Text after `origin` when `url` is of that origin (host in any case), else null. */
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
 * The body rewriter of an answer, or null for the answers (nearly all) whose bytes are not touched.
 * `gatewayUrl`: by which agents reach the gateway; the SDK accepts only absolute addresses here.
 */
export function createBodyUrlRewriter(
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
    `${gatewayUrl()}${PROXY_PREFIX}${upstream.providerSlug}${BATCHES_PATH}/`,
  );
}

/** Replaces one text by another in a stream of any chunking. The length of the body changes: send no content-length. */
export class BodyUrlRewriter {
  readonly #from: Buffer;
  readonly #to: Buffer;
  #held: Buffer = Buffer.alloc(0);

  constructor(from: string, to: string) {
    this.#from = Buffer.from(from);
    this.#to = Buffer.from(to);
  }

  /** The bytes to send now; a tail that may be the beginning of the text waits for the next chunk. */
  push(chunk: Buffer): Buffer {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const parts: Buffer[] = [];
    let start = 0;
    for (let at = bytes.indexOf(this.#from); at !== -1; at = bytes.indexOf(this.#from, start)) {
      parts.push(bytes.subarray(start, at), this.#to);
      start = at + this.#from.length;
    }
    const tail = bytes.subarray(start);
    const held = longestPartialSuffix(tail, this.#from);
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
