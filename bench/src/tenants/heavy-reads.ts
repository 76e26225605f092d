/** One session that sends the control plane its most expensive requests, sixty at once, over its own ledger. */
import { openPool } from '@acg/controlplane/db/postgres-client';
import type { GatewayStack } from '../gateway-stack.js';
import { seedLedger } from '../ledger/seed.js';
import { type Attack, startAttacker } from './attacker-thread.js';

const RECORDS = 270_000;
const AT_ONCE = 60;

/** `exports`: whole histories of one agent; `reports`: comparisons and series of many agents. */
export async function heavyReads({
  stack,
  databaseUrl,
}: GatewayStack): Promise<{ exports(): Attack; reports(): Attack }> {
  const tenant = await stack.signUpTenant();
  const sql = openPool(databaseUrl, { connectionsMax: 2, applicationName: 'bench' });
  const { busyAgentId, agentIds } = await seedLedger(sql, tenant, RECORDS);
  await sql.end();
  const begin = (paths: readonly string[]): Attack =>
    startAttacker({ url: stack.apiUrl, paths, token: tenant.session, workers: AT_ONCE, pauseMs: 0 });
  return {
    exports: () => begin([`/v1/usage/agents/${busyAgentId}/export?period=90d&format=json`]),
    reports: () =>
      begin([
        `/v1/usage/agents/compare?agentIds=${agentIds.slice(0, 10).join(',')}&period=90d`,
        `/v1/usage/agents/${busyAgentId}/timeseries?period=90d&interval=hour`,
        '/v1/usage/timeseries?interval=hour',
      ]),
  };
}
