/** Breakers on a real Postgres, with several boards, as with several control planes. */
import { randomUUID } from 'node:crypto';
import { createLogger } from '@acg/base/log';
import { uuidv7 } from '@acg/base/uuidv7';
import { BreakerTransitionWriter } from '@acg/controlplane/breaker/breaker-transition-writer';
import { OrgBreakers } from '@acg/controlplane/breaker/org-breakers';
import type { ObservedOutcome } from '@acg/controlplane/breaker/pending-outcomes';
import { formatCircuitKey } from '@acg/controlplane/breaker/provider-origin-org-circuit-key';
import { beforeAll } from 'vitest';
import { type TestDatabase, useTestDatabase } from '../fixtures/test-database.js';

export const log = createLogger('test', 'silent');
export const RULES = { windowMs: 30_000, requestsMin: 20, errorRate: 0.5, cooldownMs: 30_000, probes: 5 };
/** The cooldown ends at once. */
export const RULES_WITHOUT_COOLDOWN = { ...RULES, cooldownMs: 1 };
export const [NEUTRAL, SUCCESS, FAILURE] = [0, 1, 2] as const;
/** The organization of the tests that need only one. */
const ORG = '00000000-0000-7000-8000-000000000001';
const AGENT = '00000000-0000-7000-8000-0000000000a1';

export const newOrigin = () => `https://${randomUUID()}`;
export const breakerKeyAt = (origin: string, orgId: string) =>
  formatCircuitKey({ providerSlug: 'openai', origin, orgId });
export const newBreakerKey = (orgId = ORG) => breakerKeyAt(newOrigin(), orgId);

export function createOutcomes(
  circuit: string,
  count: number,
  circuitOutcome: number,
  more: Partial<ObservedOutcome> = {},
) {
  const one: ObservedOutcome = {
    circuitKey: circuit,
    circuitEpoch: 0,
    circuitOutcome,
    probeLease: '',
    orgId: circuit.split('|')[2] ?? ORG,
    agentId: AGENT,
    startedAtMs: Date.now() - 5,
    durationMs: 5,
    ...more,
  };
  return Array.from({ length: count }, () => one);
}

/** For one test file: its own database with {@link ORG}. */
export function useBreakers() {
  const database = useTestDatabase();
  beforeAll(async () => {
    await database().sql`insert into organizations (id, name, slug) values (${ORG}, 'O', 'o')`;
  });
  return {
    sql: () => database().sql,
    board: (rules = RULES) => new OrgBreakers(database().sql, new BreakerTransitionWriter(rules, log)),
    async stateOf(key: string): Promise<{ state: string; epoch: number }> {
      const [row] = await database().sql<{ state: string; epoch: number }[]>`
        select state, epoch from circuits where circuit_key = ${key}`;
      return { ...row! };
    },
    eventsOf: (orgId: string) => database().sql<{ event: string; data: Record<string, unknown> }[]>`
      select event, data from events where org_id = ${orgId} order by id`,
    organization: () => createOrganizationWithAccount(database()),
  };
}

/** Creates an organization with an account of openai. */
async function createOrganizationWithAccount({ sql }: TestDatabase): Promise<string> {
  const [org, project, agent] = [uuidv7(Date.now()), uuidv7(Date.now()), uuidv7(Date.now())];
  await sql`insert into organizations (id, name, slug) values (${org}, 'O', ${org})`;
  await sql`insert into projects (id, org_id, name, slug) values (${project}, ${org}, 'P', 'p')`;
  await sql`insert into agents (id, org_id, project_id, name, slug) values (${agent}, ${org}, ${project}, 'A', 'a')`;
  await sql`
    insert into provider_accounts (id, org_id, agent_id, provider_slug, key_id, nonce, ciphertext)
    values (${uuidv7(Date.now())}, ${org}, ${agent}, 'openai', 'k', ''::bytea, ''::bytea)`;
  return org;
}
