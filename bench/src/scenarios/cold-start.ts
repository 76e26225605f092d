/** Scenario 5: many distinct gateway tokens, each used once: resolves per second, memory per cached context. */
import { createHash, randomBytes } from 'node:crypto';
import { uuidv7 } from '@acg/base/uuidv7';
import { openSql } from '@acg/controlplane/db/sql';
import { Pool } from 'undici';
import type { GatewayStack } from '../gateway-stack.js';
import { residentBytes } from '../process-usage.js';

export interface ColdStartFigure {
  readonly tokens: number;
  readonly resolvesPerSecond: number;
  readonly bytesPerContext: number;
  readonly errors: number;
}

const INSERT_ROWS = 5_000;
const CONNECTIONS = 64;

export async function coldStart(gateway: GatewayStack, tokens: number): Promise<ColdStartFigure> {
  const list = await insertTokens(gateway, tokens);
  const before = residentBytes(gateway.dataPlane.pid);
  const pool = new Pool(gateway.url, { connections: CONNECTIONS });
  let next = 0;
  let errors = 0;
  const start = performance.now();
  const lane = async (): Promise<void> => {
    while (next < list.length) {
      const token = list[next++]!;
      // /v1/self resolves the context and calls no provider.
      const { statusCode, body } = await pool.request({
        method: 'GET',
        path: '/v1/self',
        headers: { authorization: `Bearer ${token}` },
      });
      await body.dump();
      if (statusCode !== 200) errors++;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
  const seconds = (performance.now() - start) / 1_000;
  await pool.close();
  const bytes = residentBytes(gateway.dataPlane.pid) - before;
  return { tokens, resolvesPerSecond: tokens / seconds, bytesPerContext: bytes / tokens, errors };
}

async function insertTokens(gateway: GatewayStack, count: number): Promise<readonly string[]> {
  const sql = openSql(gateway.databaseUrl, { connectionsMax: 1, applicationName: 'bench' });
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
  await sql.end();
  return tokens;
}
