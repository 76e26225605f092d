/**
 * Counts connections to a port from the kernel's tables, because the HTTP server does not report whose connection
 * ended.
 */
import { readFile } from 'node:fs/promises';
import { bytesToClientNetworkKey } from '@acg/base/client-network-key';

const PROC_NET_TCP_FILES = ['/proc/net/tcp', '/proc/net/tcp6'];
const ESTABLISHED = '01';
/** The remote side has closed, this side has not. */
const CLOSE_WAIT = '08';

/** Connections by client network; null where the system has no such tables. */
export async function countConnectionsToPort(port: number): Promise<Map<string, number> | null> {
  const counts = new Map<string, number>();
  const texts = await Promise.all(PROC_NET_TCP_FILES.map((path) => readFile(path, 'latin1').catch(() => null)));
  if (texts[0] === null) return null;
  for (const text of texts) if (text !== null) addConnectionCounts(text, port, counts);
  return counts;
}

/** Adds the connections of one table to `counts`. Exported for tests. */
export function addConnectionCounts(table: string, port: number, counts: Map<string, number>): void {
  const ours = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const line of table.split('\n')) {
    const [, local = '', remote = '', state] = line.trim().split(/\s+/);
    if (!local.endsWith(ours) || (state !== ESTABLISHED && state !== CLOSE_WAIT)) continue;
    const network = bytesToClientNetworkKey(parseKernelAddress(remote.slice(0, remote.indexOf(':'))));
    counts.set(network, (counts.get(network) ?? 0) + 1);
  }
}

/** The kernel prints addresses as 32-bit words in host byte order; supported machines are little-endian. */
function parseKernelAddress(hex: string): Buffer {
  const bytes = Buffer.from(hex, 'hex');
  return bytes.length % 4 === 0 ? bytes.swap32() : bytes;
}
