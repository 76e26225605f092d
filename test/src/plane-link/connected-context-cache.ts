/** The data plane's context cache with its connection to a real control plane, without the proxy. */
import { createHash } from 'node:crypto';
import { createLogger } from '@acg/base/log';
import {
  ContextCache,
  type ContextCacheOptions,
  DEFAULT_CONTEXT_CACHE_OPTIONS,
  type Lookup,
} from '@acg/dataplane/context/context-cache';
import { ControlPlaneLink } from '@acg/dataplane/context/control-plane-link';
import { ControlPlaneClient } from '@acg/proto/control-plane-client';
import type { LinkSecurity } from '@acg/proto/link-tls-or-shared-secret';

export interface ConnectedContextCache {
  readonly cache: ContextCache;
  readonly source: ControlPlaneLink;
  readonly fatal: string[];
  readonly ended: string[];
  /** One entry for each time that the whole cache was cleared. */
  readonly resets: readonly boolean[];
  /** Resolves as the proxy does: from the cache, else from the control plane. */
  resolve(gatewayToken: string, agentRef?: string): Promise<Lookup>;
  stop(): void;
}

let count = 0;

export function connectContextCache(
  addresses: readonly string[],
  security: LinkSecurity,
  identity: { readonly dataPlaneId?: string; readonly counters?: 'memory' | 'redis' } = {},
  options: Partial<ContextCacheOptions> = {},
): ConnectedContextCache {
  const client = new ControlPlaneClient(addresses, security, () => 0);
  const fatal: string[] = [];
  const ended: string[] = [];
  const resets: boolean[] = [];
  const source = new ControlPlaneLink(
    client,
    { dataPlaneId: `test-${process.pid}-${++count}`, counters: 'redis', version: '0', ...identity },
    {
      onCircuits: () => undefined,
      onCircuit: () => undefined,
      onPrices: () => undefined,
      onCounterLayout: () => undefined,
      onReset: () => void resets.push(source.isUp),
      onRetiring: () => undefined,
      onSessionsEnd: ({ kind, id }) => void ended.push(`${kind} ${id}`),
      onFatal: (message) => void fatal.push(message),
    },
    createLogger('data', 'silent'),
  );
  const cache = new ContextCache(source, {
    ...DEFAULT_CONTEXT_CACHE_OPTIONS,
    ttlMs: 300_000,
    staleIfErrorMs: 900_000,
    ...options,
  });
  source.start(cache);
  return {
    cache,
    source,
    fatal,
    ended,
    resets,
    resolve(gatewayToken, agentRef = '') {
      const hash = createHash('sha256').update(gatewayToken).digest('hex');
      const hit = cache.get(hash, agentRef);
      return hit === null ? new Promise((done) => cache.resolve(hash, agentRef, null, done)) : Promise.resolve(hit);
    },
    stop() {
      source.stop();
      client.close();
    },
  };
}
