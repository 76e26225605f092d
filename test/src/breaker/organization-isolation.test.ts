/** Breakers of several organizations at one origin: the outcomes of an organization change its own breaker only. */
import { randomUUID } from 'node:crypto';
import { BreakerTransitionWriter } from '@acg/controlplane/breaker/breaker-transition-writer';
import { overrideOrgBreaker } from '@acg/controlplane/breaker/org-breaker-override';
import type { OrgBreakers } from '@acg/controlplane/breaker/org-breakers';
import { ProbeLeases } from '@acg/controlplane/breaker/probe-leases';
import { formatCircuitKey } from '@acg/controlplane/breaker/provider-origin-org-circuit-key';
import { expect, test } from 'vitest';
import { waitUntil } from '../fixtures/wait-until.js';
import {
  breakerKeyAt,
  createOutcomes,
  FAILURE,
  log,
  newBreakerKey,
  newOrigin,
  RULES,
  RULES_WITHOUT_COOLDOWN,
  SUCCESS,
  useBreakers,
} from './breaker-fixture.js';

const circuits = useBreakers();
const { board, stateOf, eventsOf, organization } = circuits;

/** Records outcomes at one origin: this many of each organization, all good or all bad. */
async function recordOutcomes(
  one: OrgBreakers,
  origin: string,
  orgIds: readonly string[],
  count: number,
  outcome: number,
) {
  for (const orgId of orgIds) one.recordOutcomes(createOutcomes(breakerKeyAt(origin, orgId), count, outcome));
  await one.flush();
}
const statesAt = async (origin: string, orgIds: readonly string[]) =>
  Promise.all(orgIds.map(async (orgId) => (await stateOf(breakerKeyAt(origin, orgId))).state));
const createOrganizations = (count: number) => Promise.all(Array.from({ length: count }, () => organization()));

test('breaker: many boards open it only once, and only its organization gets the event', async () => {
  const origin = newOrigin();
  const [own, other] = [await organization(), await organization()];
  const key = breakerKeyAt(origin, own);
  const boards = Array.from({ length: 8 }, () => board());
  for (const one of boards) one.recordOutcomes(createOutcomes(key, 10, FAILURE));
  await Promise.all(boards.map((one) => one.flush()));
  expect(await stateOf(key)).toEqual({ state: 'OPEN', epoch: 2 });
  const [event, ...more] = await eventsOf(own);
  expect(event).toMatchObject({
    event: 'provider.circuit_opened',
    data: { providerSlug: 'openai', state: 'OPEN', errorRate: 100, windowSeconds: 30, scope: 'organization' },
  });
  expect([more, await eventsOf(other)]).toEqual([[], []]);
});

test('breaker: failures of other organizations open their own breakers only', async () => {
  const origin = newOrigin();
  const [others, honest] = [await createOrganizations(6), await createOrganizations(3)];
  const one = board();
  await recordOutcomes(one, origin, others, 1, SUCCESS); // they have shown that they can use the origin
  await recordOutcomes(one, origin, others, 40, FAILURE);
  await recordOutcomes(one, origin, honest, 1, SUCCESS);
  expect(await statesAt(origin, [...others, ...honest])).toEqual([
    ...others.map(() => 'OPEN'),
    ...honest.map(() => 'CLOSED'),
  ]);
  for (let round = 0; round < 5; round++) {
    await recordOutcomes(one, origin, honest, 4, SUCCESS);
    await recordOutcomes(board(), origin, others, 100, FAILURE);
  }
  expect(await statesAt(origin, honest)).toEqual(['CLOSED', 'CLOSED', 'CLOSED']);
});

test('breaker: while those of others are open, three consecutive failures open that of an organization', async () => {
  const origin = newOrigin();
  const others = await createOrganizations(2);
  const newcomers = await createOrganizations(3);
  const [few, three, mixed] = (await createOrganizations(3)) as [string, string, string];
  await recordOutcomes(board(), origin, newcomers, 40, FAILURE);
  await recordOutcomes(board(), origin, [three], 3, FAILURE);
  expect(await statesAt(origin, [three])).toEqual(['CLOSED']); // organizations without a success are no evidence
  await recordOutcomes(board(), origin, others, 5, SUCCESS);
  await recordOutcomes(board(), origin, others, 20, FAILURE);
  expect(await statesAt(origin, others)).toEqual(['OPEN', 'OPEN']);
  const one = board();
  await recordOutcomes(one, origin, [few], 2, FAILURE);
  await recordOutcomes(one, origin, [three], 1, FAILURE);
  // Within the second of a success: the counts do not show which came first.
  const at = { startedAtMs: Date.now() - 10, durationMs: 1 };
  one.recordOutcomes([
    ...createOutcomes(breakerKeyAt(origin, mixed), 1, SUCCESS, at),
    ...createOutcomes(breakerKeyAt(origin, mixed), 3, FAILURE, at),
  ]);
  await one.flush();
  expect(await statesAt(origin, [few, three, mixed])).toEqual(['CLOSED', 'OPEN', 'CLOSED']);
});

test('breaker: while those of others are open, failures must come from two agents if two are active', async () => {
  const origin = newOrigin();
  const others = await createOrganizations(2);
  const [org] = (await createOrganizations(1)) as [string];
  const one = board();
  await recordOutcomes(one, origin, others, 15, SUCCESS);
  await recordOutcomes(one, origin, others, 20, FAILURE);
  const key = breakerKeyAt(origin, org);
  const second = '00000000-0000-7000-8000-0000000000a2';
  one.recordOutcomes(createOutcomes(key, 1, SUCCESS, { agentId: second, startedAtMs: Date.now() - 10_000 }));
  one.recordOutcomes(createOutcomes(key, 5, FAILURE));
  await one.flush();
  expect((await stateOf(key)).state).toBe('CLOSED');
  // Another control plane receives a failure of the second agent.
  const other = board();
  other.recordOutcomes(createOutcomes(key, 1, FAILURE, { agentId: second }));
  await other.flush();
  expect((await stateOf(key)).state).toBe('OPEN');
});

test('breaker: an organization that opened a day after its last success is no evidence for others', async () => {
  const origin = newOrigin();
  const others = await createOrganizations(2);
  const [org] = (await createOrganizations(1)) as [string];
  await recordOutcomes(board(), origin, others, 1, SUCCESS);
  await circuits.sql()`
    update circuits set succeeded_at = now() - interval '25 hours'
     where circuit_key = any(${others.map((id) => breakerKeyAt(origin, id))}::text[])`;
  await recordOutcomes(board(), origin, others, 40, FAILURE);
  await recordOutcomes(board(), origin, [org], 3, FAILURE);
  expect(await statesAt(origin, [...others, org])).toEqual(['OPEN', 'OPEN', 'CLOSED']);
});

test('breaker: records of a data plane of the previous release, with shared breakers, count for their organization', async () => {
  const origin = newOrigin();
  const [org] = (await createOrganizations(1)) as [string];
  const one = board();
  one.recordOutcomes(
    createOutcomes(formatCircuitKey({ providerSlug: 'openai', origin, orgId: null }), 20, FAILURE, { orgId: org }),
  );
  await one.flush();
  expect(await stateOf(breakerKeyAt(origin, org))).toEqual({ state: 'OPEN', epoch: 2 });
  expect(await circuits.sql()`select from circuits where circuit_key like ${`%${origin}`}`).toHaveLength(0);
});

const override = (key: string, holdMs: number | null) =>
  circuits.sql().begin(async (tx) => {
    const breaker = { circuitKey: key, providerSlug: 'openai', orgId: key.split('|')[2]! };
    await overrideOrgBreaker(tx, new BreakerTransitionWriter(RULES, log), breaker, holdMs);
  });

test('breaker: a manual override rejects all calls until its end, then probes decide; neither is an event', async () => {
  const [org] = (await createOrganizations(1)) as [string];
  const key = newBreakerKey(org);
  const one = board(RULES_WITHOUT_COOLDOWN);
  await override(key, 60_000);
  expect(await stateOf(key)).toEqual({ state: 'OPEN', epoch: 2 });
  await one.halfOpenAfterCooldown();
  expect((await stateOf(key)).state).toBe('OPEN');
  await circuits.sql()`update circuits set open_until = now() where circuit_key = ${key}`;
  await one.halfOpenAfterCooldown();
  expect((await stateOf(key)).state).toBe('HALF_OPEN');
  const probes = new ProbeLeases(circuits.sql(), RULES);
  for (let i = 0; i < RULES.probes; i++) {
    const { lease } = await probes.acquire(key, 3, 'dp');
    one.recordOutcomes(createOutcomes(key, 1, SUCCESS, { circuitEpoch: 3, probeLease: lease! }));
  }
  await one.flush();
  expect(await stateOf(key)).toEqual({ state: 'CLOSED', epoch: 4 });
  expect(await eventsOf(org)).toEqual([]);
});

test('breaker: failures after a manual override are an outage with events for its start and end', async () => {
  const [org] = (await createOrganizations(1)) as [string];
  const key = newBreakerKey(org);
  const one = board(RULES_WITHOUT_COOLDOWN);
  await override(key, 1);
  const halfOpenNow = async () => {
    await one.halfOpenAfterCooldown();
    return (await stateOf(key)).state === 'HALF_OPEN';
  };
  await waitUntil('it is half open', halfOpenNow);
  const probes = new ProbeLeases(circuits.sql(), RULES);
  const bad = await probes.acquire(key, 3, 'dp');
  one.recordOutcomes(createOutcomes(key, 1, FAILURE, { circuitEpoch: 3, probeLease: bad.lease! }));
  await one.flush();
  await waitUntil('it is half open again', halfOpenNow);
  for (let i = 0; i < RULES.probes; i++) {
    const { lease } = await probes.acquire(key, 5, 'dp');
    one.recordOutcomes(createOutcomes(key, 1, SUCCESS, { circuitEpoch: 5, probeLease: lease! }));
  }
  await one.flush();
  expect((await eventsOf(org)).map(({ event }) => event)).toEqual([
    'provider.circuit_opened',
    'provider.circuit_closed',
  ]);
});

test('breaker: closing it manually is no event, and later failures open it again', async () => {
  const [org] = (await createOrganizations(1)) as [string];
  const key = newBreakerKey(org);
  const one = board();
  one.recordOutcomes(createOutcomes(key, 20, FAILURE));
  await one.flush();
  expect((await stateOf(key)).state).toBe('OPEN');
  await override(key, null);
  expect(await stateOf(key)).toEqual({ state: 'CLOSED', epoch: 3 });
  one.recordOutcomes(createOutcomes(key, 19, FAILURE, { circuitEpoch: 3 }));
  await one.flush();
  expect((await stateOf(key)).state).toBe('CLOSED');
  one.recordOutcomes(createOutcomes(key, 1, FAILURE, { circuitEpoch: 3 }));
  await one.flush();
  expect(await stateOf(key)).toEqual({ state: 'OPEN', epoch: 4 });
  expect((await eventsOf(org)).map(({ event }) => event)).toEqual([
    'provider.circuit_opened',
    'provider.circuit_opened',
  ]);
});

test('breaker: an outage of thousands of organizations changes all of their breakers, and each gets its own event', async () => {
  const sql = circuits.sql();
  const origin = newOrigin();
  const ids = Array.from({ length: 2_000 }, () => randomUUID());
  await sql`insert into organizations (id, name, slug) select id::uuid, 'O', id from unnest(${ids}::text[]) id`;
  const one = board(RULES_WITHOUT_COOLDOWN);
  for (const orgId of ids) one.recordOutcomes(createOutcomes(breakerKeyAt(origin, orgId), 20, FAILURE));
  await one.flush();
  const count = async (state: string) =>
    (await sql`select from circuits where origin_key = ${`openai|${origin}`} and state = ${state}`).length;
  expect(await count('OPEN')).toBe(2_000);
  expect(await sql`select from events where org_id = any(${ids}::uuid[])`).toHaveLength(2_000);
  await waitUntil('all are half open', async () => {
    await one.halfOpenAfterCooldown();
    return (await count('HALF_OPEN')) === 2_000;
  });
  await sql`delete from organizations where id = any(${ids}::uuid[])`;
});
