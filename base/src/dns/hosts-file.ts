/** Parses the hosts file: names that need no DNS query. */
import { isIP } from 'node:net';
import type { ResolvedAddress } from '../egress/check-tenant-url.js';

type Hosts = ReadonlyMap<string, readonly ResolvedAddress[]>;

export function parseHostsFile(text: string): Hosts {
  const hosts = new Map<string, ResolvedAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*$/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      const known = hosts.get(key);
      if (known === undefined) hosts.set(key, [{ address, family }]);
      else if (!known.some((other) => other.address === address)) known.push({ address, family });
    }
  }
  if (!hosts.has('localhost')) hosts.set('localhost', LOOPBACK);
  return hosts;
}

const LOOPBACK: ResolvedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
