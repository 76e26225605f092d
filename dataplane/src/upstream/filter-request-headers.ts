/**
 * Selects the agent's headers that go upstream (docs/contract.md#forwarding, RFC 9110 §7.6.1). Works on flat arrays
 * `[name, value, …]` with lower-case names, in one pass.
 */
import type { Injection } from '../context/agent-context.js';
import { containsGatewayToken } from './credentials/find-gateway-token.js';
import { LOOP_HEADER } from './loop-detection.js';

/**
 * Never forwarded: hop-by-hop fields; `host` and framing, which the upstream connection writes itself; every header
 * that can carry a credential; cookies; and headers that would reveal the gateway's network to the provider.
 */
const DROPPED_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'host',
  'content-length',
  'expect',
  'authorization',
  'x-api-key',
  'api-key',
  'apikey',
  'x-goog-api-key',
  'cookie',
  'cookie2',
  'forwarded',
  'x-real-ip',
]);

/** Request only a part of the resource. */
const RANGE_HEADERS: ReadonlySet<string> = new Set(['range', 'if-range']);

const NON_ASCII = /[^\t\x20-\x7e]/;

/**
 * Returns the client headers that may go upstream, in their order. Also drops the names that `Connection` lists, the
 * names that the account sets itself, and any other header that contains a gateway token. The caller adds
 * `content-length`, because it knows which body it sends. Adds `accept-encoding: identity`, so that usage can be read
 * and credentials masked. Object requests (S3) keep the client's value, because objects may be stored encoded.
 * `dropsRanges`: also drops range headers.
 */
export function filterRequestHeaders(headers: readonly string[], injection: Injection, dropsRanges = false): string[] {
  const listed = listHopByHopNames(headers);
  const out: string[] = [];
  const objects = injection.kind === 'sigv4' && injection.isObjectStorage;
  const ownHeader = injection.kind === 'header' ? injection.name : '';
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!;
    // Loop detection needs this header. Neither the account's settings nor `Connection` remove it.
    if (name !== LOOP_HEADER) {
      if (
        DROPPED_HEADERS.has(name) ||
        name === ownHeader ||
        injection.dropHeaders.has(name) ||
        isGatewayOrForwardedHeader(name)
      )
        continue;
      if (name === 'accept-encoding' && !objects) continue;
      if (listed?.includes(name)) continue;
      if (dropsRanges && RANGE_HEADERS.has(name)) continue;
    }
    const value = headers[i + 1]!;
    if (containsGatewayToken(value) || containsGatewayToken(name)) continue;
    out.push(name, NON_ASCII.test(value) ? toWireLatin1(value) : value);
  }
  if (!objects) out.push('accept-encoding', 'identity');
  return out;
}

const isGatewayOrForwardedHeader = (name: string): boolean =>
  name.charCodeAt(0) === 0x78 && (name.startsWith('x-gateway-') || name.startsWith('x-forwarded-'));

/** Lower-case names that `Connection` declares hop-by-hop; null when it lists none (the common case). */
function listHopByHopNames(headers: readonly string[]): readonly string[] | null {
  let listed: string[] | null = null;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== 'connection') continue;
    for (const part of headers[i + 1]!.toLowerCase().split(',')) {
      const name = part.trim();
      if (name === '' || name === 'keep-alive' || name === 'close') continue;
      listed ??= [];
      listed.push(name);
    }
  }
  return listed;
}

/**
 * uWebSockets delivers header bytes as UTF-8 text and the upstream connection writes latin1. Restores the original
 * bytes.
 */
function toWireLatin1(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1');
}
