/**
 * Detects request loops. A tenant can register an address that leads back to the gateway, directly or through a proxy; without
 * this check one call becomes another one until a rate limit stops it. Calls to tenants' addresses carry
 * `CDN-Loop` (RFC 8586) with one entry per account that they passed; CDNs keep it, and do not let their customers remove it.
 *
 * A proxy of the tenant's own can remove it: then each round also goes through that proxy, at the tenant's expense.
 */
import { createHash } from 'node:crypto';

export const LOOP_HEADER = 'cdn-loop';
const PREFIX = 'acg-';
/** Chained gateways are rare. The bound stops loops over many accounts. */
const HOPS_MAX = 4;

/** The entry of an account; says nothing about it. */
export const createLoopEntry = (accountId: string): string =>
  `${PREFIX}${createHash('sha256').update(accountId).digest('hex').slice(0, 24)}`;

/** Whether a request has passed this account before, or too many others. `headers`: flat, lower-case names. */
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
