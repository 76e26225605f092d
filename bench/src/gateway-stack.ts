/** The gateway with everything on: embedded Postgres, Redis, control plane, one data-plane process, one ready agent. */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@acg/base/secret';
import { findBinaries } from '@acg/singlenode/postgres/binaries';
import { PostgresCluster } from '@acg/singlenode/postgres/cluster';
import type { TestPlane } from '@acg/test/plane-process';
import { Stack, type Tenant } from '@acg/test/stack';
import { type Child, startChild } from './child.js';
import { freePort } from './free-port.js';

export interface GatewayStack {
  readonly stack: Stack;
  readonly url: string;
  readonly metricsUrl: string;
  readonly dataPlane: TestPlane;
  readonly redis: Child;
  readonly redisPort: number;
  readonly postgresPid: number;
  readonly databaseUrl: Secret;
  readonly tenant: Tenant;
  /** Gateway token of an agent whose limits are far above the load, with a budget. */
  readonly token: string;
  readonly agentId: string;
  stop(): Promise<void>;
}

const PROVIDER_KEY = 'sk-real-0123456789';

export async function startRedis(): Promise<{ child: Child; port: number }> {
  const port = await freePort();
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--maxmemory-policy',
    'noeviction',
  ];
  return { child: await startChild('redis', 'redis-server', args, port), port };
}

export async function startGateway(
  providerUrl: string,
  dataPlaneEnv: Readonly<Record<string, string>> = {},
): Promise<GatewayStack> {
  const home = mkdtempSync(join(tmpdir(), 'acg-bench-'));
  chmodSync(home, 0o711);
  const cluster = await PostgresCluster.start({
    binaries: findBinaries(),
    directory: join(home, 'cluster'),
    password: randomBytes(12).toString('hex'),
    logFile: join(home, 'postgres.log'),
    port: 0,
    settings: ['max_connections=100', 'shared_buffers=256MB', 'max_wal_size=2GB'],
  });
  await cluster.createDatabase('bench');
  const redis = await startRedis();
  const stack = await Stack.start({
    database: { url: new Secret(cluster.url('bench')), drop: () => cluster.stop() },
    providers: { openai: providerUrl },
    redisUrl: `redis://127.0.0.1:${redis.port}`,
    env: { LOG_LEVEL: 'warn' },
    dataPlaneEnv: { LOG_LEVEL: 'warn', ...dataPlaneEnv },
  });
  const { plane, url, metricsUrl } = await stack.addDataPlane();
  const tenant = await stack.tenant();
  const agent = await tenant.agent({ rpmLimit: 1_000_000, rpdLimit: 1_000_000_000, budgetCentsMonthly: 1_000_000_000 });
  const token = await tenant.token(agent.id);
  await tenant.account(agent.id, 'openai', { apiKey: PROVIDER_KEY });
  return {
    stack,
    url,
    metricsUrl,
    dataPlane: plane,
    redis: redis.child,
    redisPort: redis.port,
    postgresPid: cluster.pid,
    databaseUrl: new Secret(cluster.url('bench')),
    tenant,
    token,
    agentId: agent.id,
    async stop() {
      await stack.stop();
      await redis.child.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
