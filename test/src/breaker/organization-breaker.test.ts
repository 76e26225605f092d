/** The breaker of one organization. */
import { randomUUID } from 'node:crypto';
import { CircuitChangeFeed } from '@acg/controlplane/breaker/circuit-change-feed';
import { CIRCUIT_CHANNEL, type CircuitNotice, pruneCircuits } from '@acg/controlplane/breaker/circuit-store';
import type { OrgBreakers } from '@acg/controlplane/breaker/org-breakers';
import { ProbeLeases } from '@acg/controlplane/breaker/probe-leases';
import { expect, test } from 'vitest';
import { waitUntil } from '../fixtures/wait-until.js';
import {
  createOutcomes,
  FAILURE,
  log,
  NEUTRAL,
  newBreakerKey,
  RULES,
  RULES_WITHOUT_COOLDOWN,
  SUCCESS,
  useBreakers,
} from './breaker-fixture.js';

const circuits = useBreakers();
const { board, stateOf, organization } = circuits;

async function createTrippedBreaker(
  rules = RULES,
  key = newBreakerKey(),
): Promise<{ key: string; board: OrgBreakers }> {
  const one = board(rules);
  one.recordOutcomes(createOutcomes(key, 20, FAILURE));
  await one.flush();
  expect(await stateOf(key)).toEqual({ state: 'OPEN', epoch: 2 });
  return { key, board: one };
}
async function createHalfOpenBreaker(of = newBreakerKey()): Promise<{ key: string; board: OrgBreakers }> {
  const { key, board: one } = await createTrippedBreaker(RULES_WITHOUT_COOLDOWN, of);
  await waitUntil('the cooldown has ended', async () => {
    await one.halfOpenAfterCooldown();
    return (await stateOf(key)).state === 'HALF_OPEN';
  });
  return { key, board: one };
}

test('breaker: thousands of failing origins of one organization do not delay the recovery of others', async () => {
  const sql = circuits.sql();
  const [crowd, other] = [await organization(), await organization()];
  await sql`insert into circuits (circuit_key, provider_slug, org_id, state, open_until)
    select 'supabase|https://' || n || '|' || ${crowd}::text, 'supabase', ${crowd}, 'OPEN', now() - interval '2 seconds'
      from generate_series(1, 1000) n`;
  const key = newBreakerKey(other);
  await sql`insert into circuits (circuit_key, provider_slug, org_id, state, open_until)
    values (${key}, 'openai', ${other}, 'OPEN', now() - interval '1 second')`;
  await board().halfOpenAfterCooldown();
  expect((await stateOf(key)).state).toBe('HALF_OPEN');
  await sql`delete from circuits where provider_slug = 'supabase'`;
});

test('breaker: adds up the outcomes that different control planes received', async () => {
  const key = newBreakerKey();
  const [a, b] = [board(), board()];
  a.recordOutcomes(createOutcomes(key, 10, FAILURE));
  b.recordOutcomes(createOutcomes(key, 9, SUCCESS));
  await Promise.all([a.flush(), b.flush()]);
  expect((await stateOf(key)).state).toBe('CLOSED');
  b.recordOutcomes(createOutcomes(key, 1, FAILURE));
  await b.flush();
  expect(await stateOf(key)).toEqual({ state: 'OPEN', epoch: 2 });
});

test('breaker: ignores outcomes of an older epoch, from before the window or from before the transition', async () => {
  const { key, board: one } = await createTrippedBreaker(RULES_WITHOUT_COOLDOWN);
  await circuits.sql()`
    update circuits set state = 'CLOSED', epoch = 4, open_until = null, changed_at = now() where circuit_key = ${key}`;
  one.recordOutcomes(createOutcomes(key, 100, FAILURE, { circuitEpoch: 1 }));
  one.recordOutcomes(
    createOutcomes(key, 100, FAILURE, { circuitEpoch: 4, startedAtMs: Date.now() - 60_000, durationMs: 1 }),
  );
  one.recordOutcomes(
    createOutcomes(key, 100, FAILURE, { circuitEpoch: 0, startedAtMs: Date.now() - 10_000, durationMs: 9_999 }),
  );
  await one.flush();
  expect(await stateOf(key)).toEqual({ state: 'CLOSED', epoch: 4 });
  // A new failure triggers the check of the window, which contains neither older rows nor rows of the previous epoch.
  one.recordOutcomes(createOutcomes(key, 1, FAILURE, { circuitEpoch: 4 }));
  await one.flush();
  expect(await stateOf(key)).toEqual({ state: 'CLOSED', epoch: 4 });
  one.recordOutcomes(createOutcomes(key, 18, FAILURE, { circuitEpoch: 4 }));
  await one.flush();
  await circuits.sql()`
    update circuit_outcomes set second = second - interval '31 seconds' where circuit_key = ${key} and epoch = 4`;
  one.recordOutcomes(createOutcomes(key, 19, FAILURE, { circuitEpoch: 4 }));
  await one.flush();
  expect(await stateOf(key)).toEqual({ state: 'CLOSED', epoch: 4 });
  one.recordOutcomes(createOutcomes(key, 1, FAILURE, { circuitEpoch: 4 }));
  await one.flush();
  expect(await stateOf(key)).toEqual({ state: 'OPEN', epoch: 5 });
});

test('breaker: a neutral outcome counts neither as success nor as failure', async () => {
  const key = newBreakerKey();
  const one = board();
  one.recordOutcomes(createOutcomes(key, 10, FAILURE));
  one.recordOutcomes(createOutcomes(key, 100, NEUTRAL));
  await one.flush();
  expect((await stateOf(key)).state).toBe('CLOSED');
  expect(await circuits.sql()`select requests, failures from circuit_outcomes where circuit_key = ${key}`).toEqual([
    { requests: 10, failures: 10 },
  ]);
  one.recordOutcomes(createOutcomes(key, 10, FAILURE));
  await one.flush();
  expect((await stateOf(key)).state).toBe('OPEN');
});

test('breaker: the cooldown ends by itself and only once with several control planes', async () => {
  const { key } = await createTrippedBreaker(RULES_WITHOUT_COOLDOWN);
  const boards = Array.from({ length: 5 }, () => board(RULES_WITHOUT_COOLDOWN));
  await waitUntil('it is half open', async () => {
    await Promise.all(boards.map((one) => one.halfOpenAfterCooldown()));
    return (await stateOf(key)).state === 'HALF_OPEN';
  });
  expect(await stateOf(key)).toEqual({ state: 'HALF_OPEN', epoch: 3 });
});

test('breaker: 200 requests over the fleet get exactly the existing probe slots; successes close it', async () => {
  const { key, board: one } = await createHalfOpenBreaker();
  const planes = Array.from({ length: 4 }, () => new ProbeLeases(circuits.sql(), RULES));
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => planes[i % planes.length]!.acquire(key, 3, `dp-${i}`)),
  );
  const leases = answers.flatMap(({ lease }) => (lease === null ? [] : [lease]));
  expect(leases).toHaveLength(RULES.probes);
  expect(answers.every(({ circuit }) => circuit.state === 'HALF_OPEN' && circuit.epoch === 3)).toBe(true);
  for (const probeLease of leases) {
    expect((await stateOf(key)).state).toBe('HALF_OPEN');
    expect((await planes[0]!.acquire(key, 3, 'dp')).lease).toBeNull();
    one.recordOutcomes(createOutcomes(key, 1, SUCCESS, { circuitEpoch: 3, probeLease }));
    await one.flush();
  }
  expect(await stateOf(key)).toEqual({ state: 'CLOSED', epoch: 4 });
});

test('breaker: a success that a data plane reports by itself counts once, however often it is reported', async () => {
  const { key, board: one } = await createHalfOpenBreaker();
  const other = board(RULES_WITHOUT_COOLDOWN);
  const probes = new ProbeLeases(circuits.sql(), RULES);
  const { lease } = await probes.acquire(key, 3, 'dp');
  const probe = { circuitKey: key, epoch: 3, lease: lease!, good: true };
  await Promise.all([
    one.recordProbeResult(probe),
    other.recordProbeResult(probe),
    one.recordProbeResult({ ...probe, lease: randomUUID() }),
  ]);
  await one.recordProbeResult({ ...probe, lease: 'not a lease' });
  const good = async () =>
    (await circuits.sql()`select probes_good as "probesGood" from circuits where circuit_key = ${key}`)[0]!.probesGood;
  expect(await good()).toBe(1);
  // That slot is used: four of five are free.
  const leases = await Promise.all(Array.from({ length: 6 }, () => probes.acquire(key, 3, 'dp')));
  expect(leases.filter((answer) => answer.lease !== null)).toHaveLength(4);
  for (const answer of leases) {
    if (answer.lease !== null) await other.recordProbeResult({ ...probe, lease: answer.lease });
  }
  expect(await stateOf(key)).toEqual({ state: 'CLOSED', epoch: 4 });
  await one.recordProbeResult({ ...probe, good: false });
  expect(await stateOf(key)).toEqual({ state: 'CLOSED', epoch: 4 });
});

test('breaker: a probe result that could not be written is written later', async () => {
  const sql = circuits.sql();
  const { key, board: one } = await createHalfOpenBreaker();
  const { lease } = await new ProbeLeases(sql, RULES).acquire(key, 3, 'dp');
  one.recordOutcomes(createOutcomes(key, 1, FAILURE, { circuitEpoch: 3, probeLease: lease! }));
  await sql`alter table circuit_probes rename to circuit_probes_away`;
  await expect(one.flush()).rejects.toThrow('circuit_probes');
  await sql`alter table circuit_probes_away rename to circuit_probes`;
  expect((await stateOf(key)).state).toBe('HALF_OPEN');
  await one.flush();
  expect(await stateOf(key)).toEqual({ state: 'OPEN', epoch: 4 });
});

test('breaker: a probe slot becomes free on release, after a neutral result or when its lease expires', async () => {
  const { key, board: one } = await createHalfOpenBreaker();
  const probes = new ProbeLeases(circuits.sql(), RULES);
  const dying = new ProbeLeases(circuits.sql(), RULES, 1);
  const take = async (from = probes) => (await from.acquire(key, 3, 'dp')).lease;
  const leases = [await take(), await take(), await take(), await take()] as string[];
  await take(dying);
  await waitUntil('the dead lease has ended', () => take());
  expect(await take()).toBeNull();
  await probes.release(key, leases[0]!);
  expect(await take()).not.toBeNull();
  expect(await take()).toBeNull();
  one.recordOutcomes(createOutcomes(key, 1, 0, { circuitEpoch: 3, probeLease: leases[1]! }));
  await one.flush();
  expect(await take()).not.toBeNull();
  expect((await stateOf(key)).state).toBe('HALF_OPEN');
});

test('breaker: one failed probe opens it again without a second event; late successes of that epoch are ignored', async () => {
  const org = await organization();
  const { key, board: one } = await createHalfOpenBreaker(newBreakerKey(org));
  const probes = new ProbeLeases(circuits.sql(), RULES);
  const [a, b] = [await probes.acquire(key, 3, 'dp'), await probes.acquire(key, 3, 'dp')];
  one.recordOutcomes(createOutcomes(key, 1, FAILURE, { circuitEpoch: 3, probeLease: a.lease! }));
  one.recordOutcomes(createOutcomes(key, 1, SUCCESS, { circuitEpoch: 3, probeLease: b.lease! }));
  await one.flush();
  expect(await stateOf(key)).toEqual({ state: 'OPEN', epoch: 4 });
  expect((await probes.acquire(key, 3, 'dp')).circuit).toMatchObject({ state: 'OPEN', epoch: 4 });
  const events = await circuits.sql()`select event from events where org_id = ${org}`;
  expect(events.map((e) => e.event)).toEqual(['provider.circuit_opened']);
});

test('breaker: unused closed breakers are deleted, also after trips; changed or open ones stay', async () => {
  const sql = circuits.sql();
  const insert = async (state: string, epoch: number, unusedDays: number, unchangedDays: number): Promise<string> => {
    const key = newBreakerKey();
    await sql`
      insert into circuits (circuit_key, provider_slug, state, epoch, last_used_at, changed_at)
      values (${key}, 'openai', ${state}, ${epoch}, now() - ${unusedDays} * interval '1 day',
              now() - ${unchangedDays} * interval '1 day')`;
    return key;
  };
  const gone = [await insert('CLOSED', 1, 31, 0), await insert('CLOSED', 4, 31, 31)];
  const kept = [
    await insert('CLOSED', 1, 29, 90),
    await insert('CLOSED', 4, 31, 29),
    await insert('CLOSED', 4, 29, 31),
    await insert('HALF_OPEN', 3, 90, 90),
    await insert('OPEN', 2, 90, 90),
  ];
  await pruneCircuits(sql, RULES.windowMs);
  const left = await sql<{ key: string }[]>`
    select circuit_key as key from circuits where circuit_key = any(${[...gone, ...kept]}::text[])`;
  expect(left.map(({ key }) => key).sort()).toEqual([...kept].sort());
  // Deletes all old outcomes, however many were written since the last sweep; those of the window stay.
  await sql`
    insert into circuit_outcomes (circuit_key, epoch, second, org_id, writer, requests, failures)
    select ${kept[0]!}, 1, now() - interval '1 day' - i * interval '1 second', gen_random_uuid(), gen_random_uuid(), 1, 0
      from generate_series(1, 25000) i
    union all select ${kept[0]!}, 1, now(), gen_random_uuid(), gen_random_uuid(), 1, 0`;
  await pruneCircuits(sql, RULES.windowMs);
  expect(await sql`select from circuit_outcomes where circuit_key = ${kept[0]!}`).toHaveLength(1);
  // A recreated breaker trips like any other, and its first transition is not skipped as old.
  const one = board();
  one.recordOutcomes(createOutcomes(gone[1]!, 20, FAILURE));
  await one.flush();
  expect(await stateOf(gone[1]!)).toEqual({ state: 'OPEN', epoch: 2 });
});

test('breaker: every transition reaches the feed of every control plane once, in order; a new control plane starts with the current state', async () => {
  const sql = circuits.sql();
  const seen: CircuitNotice[][] = [[], []];
  const feeds = await Promise.all(
    seen.map(async (notices) => {
      const feed = new CircuitChangeFeed(sql, log);
      feed.onChange = (notice) => notices.push(notice);
      await feed.start();
      return feed;
    }),
  );
  const { key, board: one } = await createHalfOpenBreaker();
  const probes = new ProbeLeases(sql, RULES);
  for (let i = 0; i < RULES.probes; i++) {
    const { lease } = await probes.acquire(key, 3, 'dp');
    one.recordOutcomes(createOutcomes(key, 1, SUCCESS, { circuitEpoch: 3, probeLease: lease! }));
  }
  const late = new CircuitChangeFeed(sql, log);
  await late.start();
  expect(late.listNotClosed()).toContainEqual({ circuitKey: key, state: 'HALF_OPEN', epoch: 3, openUntilMs: 0 });
  await one.flush();
  for (const notices of seen) {
    const own = () => notices.filter((n) => n.circuitKey === key).map((n) => n.state);
    await waitUntil('all transitions arrived', () => own().length === 3);
    expect(own()).toEqual(['OPEN', 'HALF_OPEN', 'CLOSED']);
  }
  await waitUntil('the late control plane got them, too', () =>
    late.listNotClosed().every((n) => n.circuitKey !== key),
  );
  // A late transition, and another one after it.
  const after = newBreakerKey();
  for (const circuitKey of [key, after]) {
    await sql.notify(CIRCUIT_CHANNEL, JSON.stringify({ circuitKey, state: 'OPEN', epoch: 2, openUntilMs: 1 }));
  }
  for (const notices of seen) {
    await waitUntil('both transitions arrived', () => notices.some((n) => n.circuitKey === after));
    expect(notices.filter((n) => n.circuitKey === key)).toHaveLength(3);
  }
  await Promise.all([...feeds, late].map((feed) => feed.stop()));
});

test('breaker: polling finds a change whose notification was lost', async () => {
  const sql = circuits.sql();
  const { key } = await createTrippedBreaker();
  const seen: CircuitNotice[] = [];
  const feed = new CircuitChangeFeed(sql, log);
  feed.onChange = (notice) => seen.push(notice);
  await feed.start();
  await waitUntil('it has started', () => seen.some((n) => n.circuitKey === key));
  await sql`
    update circuits set state = 'HALF_OPEN', epoch = 3, open_until = null, changed_at = now() where circuit_key = ${key}`;
  await waitUntil('the transition was found', () => seen.some((n) => n.circuitKey === key && n.epoch === 3));
  await feed.stop();
});
