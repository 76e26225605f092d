/** Overrides of an organization's breaker by owners and admins, and their effect on the public status. */
import { randomUUID } from 'node:crypto';
import { StatusService } from '@acg/controlplane/status/status-service';
import { beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();
const ORIGIN = 'https://api.openai.com';
let owner: Member;
let agentId: string;

beforeAll(async () => {
  owner = await plane().createMember('owner');
  const projectId = (await owner.call('POST', '/v1/projects', { name: 'Default' })).body.project.id;
  agentId = (await owner.call('POST', '/v1/agents', { projectId, name: 'Bot' })).body.agent.id;
  await createAccount('openai', { apiKey: 'sk-real-0123456789' });
});

async function createAccount(providerSlug: string, credentials: Record<string, string>, of = agentId): Promise<void> {
  const body = { agentId: of, providerSlug, credentials };
  expect((await owner.call('POST', '/v1/providers/accounts', body)).status).toBe(201);
}

const overrideBreaker = (body: object, by = owner) => by.call('PUT', '/v1/circuits', body);

test('breakers: an override holds one open for its duration; opening and closing are in the trail and send no event', async () => {
  const beforeMs = Date.now();
  const held = await overrideBreaker({ providerSlug: 'openai', state: 'OPEN', holdMinutes: 90 });
  expect(held).toMatchObject({
    status: 200,
    body: { circuit: { providerSlug: 'openai', origin: ORIGIN, state: 'OPEN', reason: 'held' } },
  });
  const minutes = (Date.parse(held.body.circuit.nextProbeAt) - beforeMs) / 60_000;
  expect(minutes).toBeGreaterThan(89);
  expect(minutes).toBeLessThan(91);
  expect((await owner.call('GET', '/v1/circuits')).body.circuits).toEqual([held.body.circuit]);
  const closed = await overrideBreaker({ providerSlug: 'openai', origin: ORIGIN, state: 'CLOSED' });
  expect(closed.body.circuit).toMatchObject({ state: 'CLOSED', reason: null, nextProbeAt: null });
  const { entries } = (await owner.call('GET', '/v1/audit?targetType=circuit')).body;
  expect(entries).toMatchObject([
    { action: 'circuit.close', target: { id: 'openai' }, changes: { origin: [null, ORIGIN] } },
    { action: 'circuit.hold', target: { id: 'openai' }, changes: { origin: [null, ORIGIN], holdMinutes: [null, 90] } },
  ]);
  expect((await owner.call('GET', '/v1/events?event=provider.circuit_opened')).body.events).toEqual([]);
  expect((await owner.call('GET', '/v1/events?event=provider.circuit_closed')).body.events).toEqual([]);
});

test('breakers: overrides longer than a day or of unused providers are rejected', async () => {
  for (const holdMinutes of [0, 1_441, 1.5])
    expect((await overrideBreaker({ providerSlug: 'openai', state: 'OPEN', holdMinutes })).status).toBe(400);
  expect((await overrideBreaker({ providerSlug: 'openai', state: 'HALF_OPEN' })).status).toBe(400);
  expect((await overrideBreaker({ providerSlug: 'anthropic', state: 'OPEN' })).status).toBe(404);
  expect(
    (await overrideBreaker({ providerSlug: 'openai', origin: 'https://other.example', state: 'OPEN' })).status,
  ).toBe(404);
  expect(
    (await overrideBreaker({ providerSlug: 'openai', state: 'OPEN' }, await plane().createMember('owner'))).status,
  ).toBe(404);
});

test('circuits: where a provider has several origins, one is named', async () => {
  const projectId = (await owner.call('POST', '/v1/projects', { name: 'Second' })).body.project.id;
  const second = (await owner.call('POST', '/v1/agents', { projectId, name: 'Other' })).body.agent.id;
  const urls = ['https://aaaaaaaaaaaaaaaaaaaa.supabase.co', 'https://bbbbbbbbbbbbbbbbbbbb.supabase.co'];
  await createAccount('supabase', { url: urls[0]!, apiKey: 'service-0123456789' });
  await createAccount('supabase', { url: urls[1]!, apiKey: 'service-0123456789' }, second);
  const unclear = await overrideBreaker({ providerSlug: 'supabase', state: 'OPEN' });
  expect(unclear).toMatchObject({ status: 409, body: { error: expect.stringContaining('several origins') } });
  const held = await overrideBreaker({ providerSlug: 'supabase', origin: urls[1], state: 'OPEN' });
  expect(held.body.circuit).toMatchObject({ origin: urls[1], state: 'OPEN' });
  const { circuits } = (await owner.call('GET', '/v1/circuits')).body;
  const states = circuits.map((one: { origin: string; state: string }) => [one.origin, one.state]);
  expect(states).toContainEqual([urls[0], 'CLOSED']);
});

/** A breaker of OpenAI in a given state: instants in seconds ago. */
interface BreakerState {
  readonly state: 'CLOSED' | 'HALF_OPEN' | 'OPEN';
  readonly succeeded?: number;
  readonly succeededBefore?: number;
  readonly used?: number;
  readonly opened?: number;
  readonly changed?: number;
  readonly announced?: boolean;
}

const DAY_S = 86_400;
const closed: BreakerState = { state: 'CLOSED', succeeded: 300, used: 5 };
const open: BreakerState = { state: 'OPEN', succeeded: 300, used: 60, opened: 60, announced: true };
const halfOpen: BreakerState = { ...open, state: 'HALF_OPEN', changed: 10 };

test.each<[string, BreakerState[], string]>([
  ['one alone is open', [open], 'OPEN'],
  ['one of two is open', [open, closed], 'HALF_OPEN'],
  ['two of three are open', [open, open, closed], 'OPEN'],
  ['one of three is open', [open, closed, closed], 'CLOSED'],
  ['half are open or half-open', [open, halfOpen, closed, closed], 'HALF_OPEN'],
  [
    'strangers without a success are open',
    [
      { ...open, succeeded: 60 + DAY_S + 1 },
      { ...open, succeeded: -1 },
    ],
    'CLOSED',
  ],
  ['the other one has had its first success within the window', [open, { ...closed, succeeded: 10 }], 'OPEN'],
  ['… and one before, too', [open, { ...closed, succeeded: 10, succeededBefore: 700 }], 'HALF_OPEN'],
  ['… but more than a day ago', [open, { ...closed, succeeded: 10, succeededBefore: DAY_S + 60 }], 'OPEN'],
  ['the other one has made no call in the window', [open, { ...closed, used: 60 }], 'OPEN'],
  ['an administrator holds it open', [{ ...open, announced: false }], 'CLOSED'],
  ['half-open, and nobody has tried it for the window', [{ ...halfOpen, changed: 60 }], 'CLOSED'],
  ['open for hours', [{ ...open, opened: 9_000, succeeded: 9_300, used: 9_000, changed: 20 }], 'OPEN'],
])('status: %s', async (_name, breakers, state) => {
  const { sql } = plane().database;
  await sql`delete from circuits`;
  for (const { state: is, succeeded, succeededBefore, used, opened, changed, announced } of breakers) {
    const orgId = randomUUID();
    await sql`insert into organizations (id, name, slug) values (${orgId}, 'O', ${orgId})`;
    const ago = (seconds: number | undefined) =>
      seconds === undefined || seconds < 0 ? null : new Date(Date.now() - seconds * 1_000);
    await sql`
      insert into circuits (circuit_key, provider_slug, org_id, state, succeeded_at, succeeded_before_at, last_used_at,
                            opened_at, changed_at, announced)
      values (${`openai|${ORIGIN}|${orgId}`}, 'openai', ${orgId}, ${is}, ${ago(succeeded)}, ${ago(succeededBefore)},
              ${ago(used)}, ${ago(opened)}, ${ago(changed ?? opened ?? 0)}, ${announced ?? false})`;
  }
  const providers = [{ slug: 'openai', displayName: 'OpenAI', origins: [ORIGIN] }];
  const { providers: health } = await new StatusService(sql, providers, 30_000).current();
  expect(health).toMatchObject([{ slug: 'openai', state }]);
});
