/**
 * Detects request loops. A tenant can register an address that leads back to the gateway, directly or through a proxy.
 * Without this check one call would cause further calls until a rate limit stops them. Calls to tenants' addresses
 * carry `CDN-Loop` (RFC 8586) with one entry per account that they passed. CDNs forward this header and do not let
 * their customers remove it. A tenant's own proxy can remove it; then each round also costs that proxy.
 */
import { createHash } from 'node:crypto';

export const LOOP_HEADER = 'cdn-loop';
const PREFIX = 'acg-';
/** The bound stops loops over many accounts. Legitimate chains of gateways are short. */
const HOPS_MAX = 4;

/** The `CDN-Loop` entry of an account: a truncated SHA-256, so that the account id stays private. */
export const createLoopEntry = (accountId: string): string =>
  `${PREFIX}${createHash('sha256').update(accountId).digest('hex').slice(0, 24)}`;

/**
 * Whether a request has already passed this account, or at least {@link HOPS_MAX} gateways. `headers`: flat, lower-case
 * names.
 */
export function isRequestLoop(headers: readonly string[], accountId: string): boolean {
  let entries: string[] | null = null;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== LOOP_HEADER) continue;
    entries ??= [];
    for (const part of headers[i + 1]!.split(',')) {
      const entry = part.trim();
      if (entry.startsWith(PREFIX)) entries.push(entry);
    }
  }
  if (entries === null) return false;
  return entries.length >= HOPS_MAX || entries.includes(createLoopEntry(accountId));
}
