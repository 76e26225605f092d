/**
 * Checks an address that a tenant typed in (custom provider, supabase `url`, s3 `endpoint`, webhook) when it is saved.
 * Works on the raw text first, because a URL parser repairs exactly what an attacker writes. The dialer checks again at
 * every connect: what a name resolves to may change at any time.
 */
import { isIP } from 'node:net';
import { CidrList } from './cidr-list.js';
import { isPublicAddress } from './public-address.js';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a name; rejects when the name does not resolve. */
type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>;

interface TenantUrlOptions {
  /** EGRESS_ALLOW_CIDRS: lifts the port, name and range rules for addresses in these ranges. */
  readonly allowCidrs: readonly string[];
  /** Refuse plain http, except to allowed ranges. */
  readonly httpsOnly?: boolean;
  readonly resolve: Resolve;
}

const URL_LENGTH_MAX = 2048;
/** Ports of public services that speak HTTP; other ports are a way to reach what happens to listen there. */
const ALLOWED_PORTS: ReadonlySet<number> = new Set([80, 443, 8080, 8443]);
const FORBIDDEN_CHARS = /[\x00-\x20\x7f\\]/;
const NON_ASCII = /[^\x00-\x7f]/;
const RESERVED_NAME =
  /(^|\.)(localhost|local|internal|intranet|lan|home|corp|localdomain|arpa|test|invalid|example|onion|svc|cluster)$/;

/** Null when the address may be saved; otherwise a text that names what is wrong with it. */
export async function checkTenantUrl(raw: string, options: TenantUrlOptions): Promise<string | null> {
  const url = parseTenantUrl(raw);
  if (typeof url === 'string') return url;
  const host = normalizeHostname(url.hostname);
  const allowed = new CidrList(options.allowCidrs);
  // A name that does not resolve now may be saved: the rules for names hold, and every connect checks its addresses.
  const addresses = await resolveOrNone(host, options.resolve);
  if (addresses.length > 0 && addresses.every(({ address }) => allowed.includes(address))) return null;
  if (options.httpsOnly === true && url.protocol !== 'https:') return 'must start with https://';
  const problem = findHostProblem(host, effectivePort(url.protocol, url.port));
  if (problem !== null) return problem;
  const refused = addresses.find(({ address }) => !isPublicAddress(address) && !allowed.includes(address));
  return refused === undefined ? null : `the host ${host} leads to ${refused.address}, which is not a public address`;
}

/** The parsed URL, or what is wrong with its text whatever ranges are allowed. */
function parseTenantUrl(raw: string): URL | string {
  if (typeof raw !== 'string' || raw.length > URL_LENGTH_MAX)
    return `must be at most ${URL_LENGTH_MAX} characters long`;
  if (FORBIDDEN_CHARS.test(raw)) return 'must hold no spaces, control characters or backslashes';
  if (!/^https?:\/\/[^/]/i.test(raw)) return 'must start with https:// or http:// and a host';
  if (!URL.canParse(raw)) return 'is not a URL';
  const url = new URL(raw);
  const authority = raw.slice(raw.indexOf('//') + 2).split(/[/?#]/, 1)[0]!;
  if (NON_ASCII.test(raw.replace(authority, ''))) return 'must hold no characters beyond ASCII behind its host';
  // Digits and dots of other scripts become plain ones; a name in another script stands in its xn-- form.
  if (NON_ASCII.test(authority) && !/(^|\.)xn--/.test(url.hostname)) {
    return 'must have a host in ASCII, or a name in letters of its own';
  }
  if (authority.includes('@')) return 'must hold no user name or password';
  if (authority.includes('%')) return 'must hold no percent escapes in its host';
  if (raw.includes('#')) return 'must hold no fragment';
  return url;
}

/** Null when the port and host name are ones that a public service can have. */
export function findHostProblem(host: string, port: number): string | null {
  if (!ALLOWED_PORTS.has(port)) return `the port ${port} is not allowed (${[...ALLOWED_PORTS].join(', ')} are)`;
  if (isIP(host) !== 0) return isPublicAddress(host) ? null : `${host} is not a public address`;
  if (host.length > 253 || !host.includes('.') || RESERVED_NAME.test(host))
    return `the host ${host} is not a public name`;
  return null;
}

/** Host name without IPv6 brackets and without the trailing dot that would slip past name rules. */
export function normalizeHostname(hostname: string): string {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

export function effectivePort(protocol: string, port: string): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

/** Past this a name counts as one that does not resolve. */
const RESOLVE_TIMEOUT_MS = 3_000;

async function resolveOrNone(host: string, resolve: Resolve): Promise<readonly ResolvedAddress[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly ResolvedAddress[]>((done) => {
    timer = setTimeout(done, RESOLVE_TIMEOUT_MS, []);
  });
  try {
    return await Promise.race([resolve(host), late]);
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
  }
}
