/**
 * The gateway with all features on: embedded Postgres, Redis, control plane, one data-plane process, one ready agent.
 */
import type { Secret } from '@acg/base/secret';
import { freePort } from '@acg/test/fixtures/free-port';
import type { PlaneProcess } from '@acg/test/fixtures/plane-process';
import { Stack, type Tenant } from '@acg/test/fixtures/stack';
import { startBenchDatabase } from './bench-database.js';
import { type Child, startChild } from './child-process.js';
import { readMetrics } from './read-metrics.js';
import type { Provider } from './start-mock-provider.js';
import { atTeardown } from './teardown.js';

export interface GatewayStack {
  readonly stack: Stack;
  readonly url: string;
  readonly metricsUrl: string;
  readonly dataPlane: PlaneProcess;
  readonly redis: Child;
  readonly redisPort: number;
  readonly postgresPid: number;
  readonly databaseUrl: Secret;
  readonly tenant: Tenant;
  /** Gateway token of an agent with a budget and limits above the load. */
  readonly token: string;
  /** Gateway token of another such agent: the load soon uses up a million calls per minute, the highest limit. */
  readonly otherToken: string;
  readonly agentId: string;
  stop(): Promise<void>;
}

const PROVIDER_KEY = 'sk-real-0123456789';
const POSTGRES_SETTINGS = ['max_connections=100', 'shared_buffers=256MB', 'max_wal_size=2GB'];

export async function startRedis(): Promise<{ child: Child; port: number }> {
  const port = await freePort();
  const settings = { port, bind: '127.0.0.1', save: '', appendonly: 'no', 'maxmemory-policy': 'noeviction' };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return { child: await startChild('redis', 'redis-server', args, port), port };
}

export async function startGateway(
  provider: Pick<Provider, 'origin' | 'trust'>,
  dataPlaneEnv: Readonly<Record<string, string>> = {},
): Promise<GatewayStack> {
  const database = await startBenchDatabase(POSTGRES_SETTINGS);
  const redis = await startRedis();
  const stack = await Stack.start({
    database: { url: database.url, drop: () => database.stop() },
    providers: { openai: provider.origin, 'github-mcp': provider.origin },
    redisUrl: `redis://127.0.0.1:${redis.port}`,
    env: { LOG_LEVEL: 'warn' },
    dataPlaneEnv: { LOG_LEVEL: 'warn', ...provider.trust, ...dataPlaneEnv },
  });
  const stop = atTeardown(() => stack.stop());
  const { plane, url, metricsUrl } = await stack.addDataPlane();
  // After an interruption the process is killed and does not wait for its calls: no result of the run is kept.
  const killDataPlane = atTeardown(async () => void (await plane.kill()));
  const tenant = await stack.signUpTenant();
  const agent = await readyAgent(tenant);
  const other = await readyAgent(tenant);
  return {
    stack,
    url,
    metricsUrl,
    dataPlane: plane,
    redis: redis.child,
    redisPort: redis.port,
    postgresPid: database.pid,
    databaseUrl: database.url,
    tenant,
    token: agent.token,
    otherToken: other.token,
    agentId: agent.id,
    async stop() {
      await stop();
      await killDataPlane();
      await redis.child.stop();
    },
  };
}

async function readyAgent(tenant: Tenant): Promise<{ id: string; token: string }> {
  const limits = { rpmLimit: 1_000_000, rpdLimit: 1_000_000_000, budgetCentsMonthly: 1_000_000_000 };
  const { id } = await tenant.createAgent(limits);
  await tenant.createAccount(id, 'openai', { apiKey: PROVIDER_KEY });
  return { id, token: await tenant.createToken(id) };
}

/**
 * Waits until all usage is in the ledger, so that its cost counts in the run that caused it. False after `timeoutMs`.
 */
export async function waitForRecordedUsage(gateway: GatewayStack, timeoutMs: number): Promise<boolean> {
  const endMs = performance.now() + timeoutMs;
  while ((await readMetrics(gateway.metricsUrl)).get('gateway_spool_bytes')! > 0) {
    if (performance.now() > endMs) return false;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return true;
}
