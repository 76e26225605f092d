/**
 * Scenario 5: many distinct gateway tokens, each used once: resolves per second, and memory per cached context. The
 * reference is a second pass over the newest tokens, which are cached by then (the cache is bounded, so it need not
 * contain all of them).
 */
import { createHash, randomBytes } from 'node:crypto';
import { uuidv7 } from '@acg/base/uuidv7';
import { openPool } from '@acg/controlplane/db/postgres-client';
import type { GatewayStack } from '../gateway-stack.js';
import { sendEach } from '../load/closed-loop.js';
import { residentBytes, treeCpuUs } from '../process-usage.js';
import { readMetrics } from '../read-metrics.js';
import { type Bench, rounded, type Scenario, type ScenarioResult } from './scenario.js';

const TOKENS = 100_000;
const WARM_TOKENS = 40_000;
const INSERT_ROWS = 5_000;
const CONNECTIONS = 64;
const PASS_SECONDS_MAX = 60;
const SETTLE_MS = 1_000;

interface PassFigure {
  readonly name: string;
  readonly tokens: number;
  readonly perSecond: number;
  readonly errors: number;
  /** µs per token, by process. */
  readonly cpuUs: { readonly proxy: number; readonly controlPlane: number; readonly postgres: number };
  readonly contextsCached: number;
  /** Growth during the pass per added context; null when none was added. */
  readonly rssBytesPerContext: number | null;
  readonly heapBytesPerContext: number | null;
}

export const coldContextCache: Scenario = {
  name: 'cold',
  title: `${TOKENS} distinct tokens, once each`,
  async run({ gateway, secondsLeft }: Bench): Promise<ScenarioResult> {
    const tokens = await insertTokens(gateway, TOKENS);
    const limit = () => Math.min(PASS_SECONDS_MAX, secondsLeft() - 20);
    const cold = await pass('cold', gateway, tokens, limit());
    const known = tokens.slice(Math.max(0, cold.tokens - WARM_TOKENS), cold.tokens);
    const warm = await pass('warm', gateway, known, limit());
    const figures = [cold, warm];
    return {
      figures,
      rows: figures.map(tableRow),
      charts: [
        {
          title: 'First and second use of a token',
          unit: '/s',
          bars: figures.map((figure) => ({ label: figure.name, value: figure.perSecond })),
        },
      ],
      notes: [
        `GET /v1/self over ${CONNECTIONS} connections: token, context and counters, no provider; one agent with one account`,
        ...(cold.tokens < TOKENS ? [`stopped by the clock after ${cold.tokens} tokens`] : []),
      ],
    };
  },
};

async function insertTokens(gateway: GatewayStack, count: number): Promise<readonly string[]> {
  const sql = openPool(gateway.databaseUrl, { connectionsMax: 1, applicationName: 'bench' });
  const tokens = Array.from({ length: count }, () => `acg_${randomBytes(32).toString('hex')}`);
  for (let at = 0; at < count; at += INSERT_ROWS) {
    const rows = tokens.slice(at, at + INSERT_ROWS).map((token) => ({
      id: uuidv7(Date.now()),
      org_id: gateway.tenant.orgId,
      agent_id: gateway.agentId,
      name: 'bench',
      key_prefix: token.slice(0, 12),
      token_hash: createHash('sha256').update(token).digest(),
      scope: 'agent',
    }));
    await sql`insert into api_keys ${sql(rows)}`;
  }
  await sql`analyze api_keys`; // as autovacuum would have done for a table of that size
  await sql.end();
  return tokens;
}

/** Uses each token once, for at most `secondsMax`. */
async function pass(
  name: string,
  gateway: GatewayStack,
  tokens: readonly string[],
  secondsMax: number,
): Promise<PassFigure> {
  const { origin, port } = new URL(gateway.url);
  const before = await state(gateway);
  const endMs = performance.now() + 1_000 * secondsMax;
  let next = 0;
  const { requests, perSecond, errors } = await sendEach(origin, CONNECTIONS, () =>
    next < tokens.length && performance.now() < endMs ? selfRequest(port, tokens[next++]!) : null,
  );
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const after = await state(gateway);
  const added = after.contexts - before.contexts;
  const perToken = (of: 'proxyUs' | 'controlPlaneUs' | 'postgresUs') =>
    (after[of] - before[of]) / Math.max(1, requests);
  return {
    name,
    tokens: requests,
    perSecond,
    errors,
    cpuUs: { proxy: perToken('proxyUs'), controlPlane: perToken('controlPlaneUs'), postgres: perToken('postgresUs') },
    contextsCached: after.contexts,
    rssBytesPerContext: added > 0 ? (after.rssBytes - before.rssBytes) / added : null,
    heapBytesPerContext: added > 0 ? (after.heapBytes - before.heapBytes) / added : null,
  };
}

const selfRequest = (port: string, token: string): Buffer =>
  Buffer.from(`GET /v1/self HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n\r\n`);

async function state(gateway: GatewayStack) {
  const metrics = await readMetrics(gateway.metricsUrl);
  return {
    contexts: metrics.get('gateway_contexts')!,
    /** Includes uncollected garbage, up to the size of the young generation. */
    heapBytes: metrics.get('nodejs_heap_size_used_bytes')! + metrics.get('nodejs_external_memory_bytes')!,
    rssBytes: residentBytes(gateway.dataPlane.pid),
    proxyUs: treeCpuUs(gateway.dataPlane.pid),
    controlPlaneUs: treeCpuUs(gateway.stack.controlPlane.pid),
    postgresUs: treeCpuUs(gateway.postgresPid),
  };
}

function tableRow(figure: PassFigure): Readonly<Record<string, unknown>> {
  return {
    name: figure.name,
    tokens: figure.tokens,
    'tokens/s': rounded(figure.perSecond),
    'proxy µs': rounded(figure.cpuUs.proxy),
    'control plane µs': rounded(figure.cpuUs.controlPlane),
    'postgres µs': rounded(figure.cpuUs.postgres),
    contexts: figure.contextsCached,
    'RSS B/context': rounded(figure.rssBytesPerContext),
    'heap B/context': rounded(figure.heapBytesPerContext),
    errors: figure.errors,
  };
}
