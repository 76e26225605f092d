/**
 * Checks a URL from a tenant (custom provider, supabase `url`, s3 `endpoint`, webhook) when it is saved. The raw text
 * is checked first, because a URL parser silently repairs malformed input that an attacker crafts. The dialer checks
 * again at every connect, because the addresses of a name may change at any time.
 */
import { isIP } from 'node:net';
import { waitAtMost } from '../wait-at-most.js';
import { CidrList } from './cidr-list.js';
import { isPublicAddress } from './public-address.js';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Returns all addresses of a name; rejects when the name does not resolve. */
type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>;

interface TenantUrlOptions {
  /** EGRESS_ALLOW_CIDRS: lifts the port, name and range rules for addresses in these ranges. */
  readonly allowCidrs: readonly string[];
  /** Reject plain http, except to allowed ranges. */
  readonly httpsOnly?: boolean;
  readonly resolve: Resolve;
}

const URL_LENGTH_MAX = 2048;
/** Ports on which public HTTP services listen. Other ports would let a tenant reach non-HTTP services. */
const ALLOWED_PORTS: ReadonlySet<number> = new Set([80, 443, 8080, 8443]);
const FORBIDDEN_CHARS = /[\x00-\x20\x7f\\]/;
const NON_ASCII = /[^\x00-\x7f]/;
const RESERVED_NAME =
  /(^|\.)(localhost|local|internal|intranet|lan|home|corp|localdomain|arpa|test|invalid|example|onion|svc|cluster)$/;

/** Null when the URL may be saved; otherwise what is wrong with it. */
export async function checkTenantUrl(raw: string, options: TenantUrlOptions): Promise<string | null> {
  const url = parseTenantUrl(raw);
  if (typeof url === 'string') return url;
  const host = normalizeHostname(url.hostname);
  const allowed = new CidrList(options.allowCidrs);
  // A name that does not resolve now may be saved: the rules for names apply, and every connect checks its addresses.
  const addresses = await resolveOrNone(host, options.resolve);
  if (addresses.length > 0 && addresses.every(({ address }) => allowed.includes(address))) return null;
  if (options.httpsOnly === true && url.protocol !== 'https:') return 'must start with https://';
  const problem = findHostProblem(host, effectivePort(url.protocol, url.port));
  if (problem !== null) return problem;
  const blocked = addresses.find(({ address }) => !isPublicAddress(address) && !allowed.includes(address));
  return blocked === undefined
    ? null
    : `the host ${host} resolves to ${blocked.address}, which is not a public address`;
}

/** The parsed URL, or what is wrong with its text; allowed ranges do not matter here. */
function parseTenantUrl(raw: string): URL | string {
  if (typeof raw !== 'string' || raw.length > URL_LENGTH_MAX)
    return `must be at most ${URL_LENGTH_MAX} characters long`;
  if (FORBIDDEN_CHARS.test(raw)) return 'must not contain spaces, control characters or backslashes';
  if (!/^https?:\/\/[^/]/i.test(raw)) return 'must start with https:// or http:// and a host';
  if (!URL.canParse(raw)) return 'is not a URL';
  const url = new URL(raw);
  const authority = raw.slice(raw.indexOf('//') + 2).split(/[/?#]/, 1)[0]!;
  if (NON_ASCII.test(raw.replace(authority, ''))) return 'must contain only ASCII characters after its host';
  // The parser converts digits and dots of other scripts to ASCII, and a name in another script to its xn-- form.
  if (NON_ASCII.test(authority) && !/(^|\.)xn--/.test(url.hostname)) {
    return 'must have a host in ASCII, or an internationalized domain name';
  }
  if (authority.includes('@')) return 'must not contain a user name or password';
  if (authority.includes('%')) return 'must not contain percent escapes in its host';
  if (raw.includes('#')) return 'must not contain a fragment';
  return url;
}

/** Null when the port and host name can belong to a public service. */
export function findHostProblem(host: string, port: number): string | null {
  if (!ALLOWED_PORTS.has(port)) return `the port ${port} is not allowed (${[...ALLOWED_PORTS].join(', ')} are)`;
  if (isIP(host) !== 0) return isPublicAddress(host) ? null : `${host} is not a public address`;
  if (host.length > 253 || !host.includes('.') || RESERVED_NAME.test(host))
    return `the host ${host} is not a public name`;
  return null;
}

/** Returns the host name without IPv6 brackets and without a trailing dot, which would bypass the rules for names. */
export function normalizeHostname(hostname: string): string {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

export function effectivePort(protocol: string, port: string): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

/** A name that takes longer counts as one that does not resolve. */
const RESOLVE_TIMEOUT_MS = 3_000;

async function resolveOrNone(host: string, resolve: Resolve): Promise<readonly ResolvedAddress[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  try {
    return (await waitAtMost(resolve(host), RESOLVE_TIMEOUT_MS)) ?? [];
  } catch {
    return [];
  }
}
