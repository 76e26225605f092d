import type { JSONValue, Sql, Tx } from '../db/postgres-client.js';
import type { Circuit, CircuitStateName, SecondCount } from './breaker-state-machine.js';

/** Channel of LISTEN/NOTIFY; the payload is a {@link CircuitNotice} as JSON. */
export const CIRCUIT_CHANNEL = 'circuits';

/** State of a circuit as sent to control planes and data planes. */
export interface CircuitNotice {
  readonly circuitKey: string;
  readonly state: CircuitStateName;
  readonly epoch: number;
  /** Unix ms by the database clock. OPEN: end of the cooldown. CLOSED fleet breaker: end of an operator's hold. */
  readonly openUntilMs: number;
}

/** Why the breaker is in its state. `held`: an administrator or, for a fleet breaker, an operator has set it. */
export type CircuitReason = 'error_rate' | 'probe_failed' | 'connect' | 'held';

export interface CircuitRow extends Circuit {
  readonly circuitKey: string;
  readonly providerSlug: string;
  /** Null: fleet breaker. */
  readonly orgId: string | null;
  readonly reason: CircuitReason | null;
  /** True: open because of calls, and an event has announced it. */
  readonly announced: boolean;
  readonly changedAtMs: number;
  /** The database clock when the row was read, Unix ms. */
  readonly nowMs: number;
}

const circuitColumns = (sql: Sql | Tx) => sql`
  circuit_key as "circuitKey", provider_slug as "providerSlug", org_id as "orgId", state, epoch, reason, announced,
  coalesce(floor(extract(epoch from open_until) * 1000), 0)::float8 as "openUntilMs", probes_good as "probesGood",
  floor(extract(epoch from changed_at) * 1000)::float8 as "changedAtMs",
  floor(extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`;

export function loadCircuits(sql: Sql, keys: readonly string[]): Promise<CircuitRow[]> {
  return sql<CircuitRow[]>`select ${circuitColumns(sql)} from circuits where circuit_key = any(${[...keys]}::text[])`;
}

/**
 * Locks the rows in key order until the transaction ends. `no key update` does not block inserts of outcomes, whose
 * foreign keys refer to these rows.
 */
export function lockCircuits(tx: Tx, keys: readonly string[]): Promise<CircuitRow[]> {
  return tx<CircuitRow[]>`
    select ${circuitColumns(tx)} from circuits where circuit_key = any(${[...keys]}::text[])
     order by circuit_key for no key update`;
}

/** Inserts circuits that do not exist yet. Leaves out those of deleted organizations. */
export async function insertCircuits(
  sql: Sql | Tx,
  circuits: readonly { circuitKey: string; providerSlug: string; orgId: string | null }[],
): Promise<void> {
  await sql`
    insert into circuits (circuit_key, provider_slug, org_id)
    select r.key, r.slug, r.org_id
      from unnest(${circuits.map((c) => c.circuitKey)}::text[], ${circuits.map((c) => c.providerSlug)}::text[],
                  ${circuits.map((c) => c.orgId)}::uuid[]) as r(key, slug, org_id)
     where r.org_id is null or exists (select 1 from organizations o where o.id = r.org_id)
     order by r.key
    on conflict (circuit_key) do nothing`;
}

export interface OutcomeCount extends SecondCount {
  readonly circuitKey: string;
  readonly epoch: number;
  readonly orgId: string;
}

/** Adds counts to the rows of this writer. */
export async function addOutcomes(sql: Sql, writer: string, counts: readonly OutcomeCount[]): Promise<void> {
  await sql`
    insert into circuit_outcomes as o (circuit_key, epoch, second, org_id, writer, requests, failures, agents)
    select r."circuitKey", r.epoch, to_timestamp(r."secondMs" / 1000.0), r."orgId", ${writer}, r.requests, r.failures,
           r.agents
      from jsonb_to_recordset(${sql.json(counts as unknown as JSONValue)}) as r(
        "circuitKey" text, epoch bigint, "secondMs" bigint, "orgId" uuid, requests integer, failures integer,
        agents uuid[])
    on conflict (circuit_key, epoch, second, org_id, writer)
    do update set requests = o.requests + excluded.requests, failures = o.failures + excluded.failures,
      agents = array(select distinct unnest(o.agents || excluded.agents) limit 2)`;
}

const USED_STEP_MS = 10_000;
const SUCCEEDED_STEP = '10 minutes';

/** Updates `last_used_at` with a precision of 10 s, or a third of a shorter window, to avoid a write per request. */
export async function updateLastUsed(sql: Sql, keys: readonly string[], windowMs: number): Promise<void> {
  const stepMs = Math.min(USED_STEP_MS, windowMs / 3);
  await sql`
    update circuits set last_used_at = now() where circuit_key in (
      select circuit_key from circuits
       where circuit_key = any(${[...keys]}::text[])
         and last_used_at < now() - ${stepMs}::float8 * interval '1 millisecond'
       order by circuit_key for no key update skip locked)`;
}

/**
 * Stores the time of a success with a precision of ten minutes. The previous time is kept beside it, so that a success
 * before the window stays known.
 */
export async function recordSuccesses(sql: Sql, keys: readonly string[]): Promise<void> {
  await sql`
    update circuits set succeeded_before_at = succeeded_at, succeeded_at = now() where circuit_key in (
      select circuit_key from circuits
       where circuit_key = any(${[...keys]}::text[])
         and (succeeded_at is null or succeeded_at < now() - ${SUCCEEDED_STEP}::interval)
       order by circuit_key for no key update skip locked)`;
}

/** The outcomes of each circuit's current epoch within the window, by circuit key. */
export async function loadWindowOutcomes(
  sql: Sql | Tx,
  keys: readonly string[],
  windowMs: number,
): Promise<ReadonlyMap<string, readonly SecondCount[]>> {
  const rows = await sql<(SecondCount & { circuitKey: string })[]>`
    select o.circuit_key as "circuitKey", o.requests, o.failures, o.agents,
           (extract(epoch from o.second) * 1000)::float8 as "secondMs"
      from circuit_outcomes o join circuits c on c.circuit_key = o.circuit_key and c.epoch = o.epoch
     where o.circuit_key = any(${[...keys]}::text[])
       and o.second > clock_timestamp() - ${windowMs} * interval '1 millisecond'`;
  const byCircuit = new Map<string, SecondCount[]>();
  for (const { circuitKey, ...count } of rows) {
    const counts = byCircuit.get(circuitKey);
    if (counts === undefined) byCircuit.set(circuitKey, [count]);
    else counts.push(count);
  }
  return byCircuit;
}

/** Number of organizations whose breakers must be open at an origin before another organization needs less evidence. */
const OTHERS_MIN = 2;

/**
 * Returns those origins at which the breakers of several organizations are open that had a success within the day
 * before.
 */
export async function listFailingOrigins(sql: Sql, originKeys: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ key: string }[]>`
    select origin_key as key from circuits
     where origin_key = any(${[...originKeys]}::text[]) and state <> 'CLOSED' and announced and org_id is not null
       and succeeded_at > opened_at - interval '1 day'
     group by origin_key having count(distinct org_id) >= ${OTHERS_MIN}`;
  return new Set(rows.map((row) => row.key));
}

export interface CircuitChange extends Circuit {
  readonly circuitKey: string;
  readonly reason: CircuitReason | null;
  readonly announced: boolean;
}

/**
 * Writes the circuits and notifies every control plane at commit. Counts of older epochs stay until they are pruned:
 * they are ignored, and deleting them here could deadlock with transactions that add to them.
 */
export async function writeCircuits(tx: Tx, changes: readonly CircuitChange[]): Promise<void> {
  if (changes.length === 0) return;
  await tx`
    update circuits c set state = n.state, epoch = n.epoch, probes_good = n."probesGood", reason = n.reason,
           announced = n.announced, changed_at = clock_timestamp(),
           open_until = case when n."openUntilMs" > 0 then to_timestamp(n."openUntilMs" / 1000.0) end,
           opened_at = case when n.state <> 'CLOSED' then coalesce(c.opened_at, clock_timestamp()) end
      from jsonb_to_recordset(${tx.json(changes as unknown as JSONValue)}) as n(
        "circuitKey" text, state text, epoch bigint, "probesGood" integer, reason text, announced boolean,
        "openUntilMs" float8)
     where c.circuit_key = n."circuitKey"`;
  await tx`delete from circuit_probes where circuit_key = any(${changes.map((change) => change.circuitKey)}::text[])`;
  const notices = changes.map(({ circuitKey, state, epoch, openUntilMs }) =>
    JSON.stringify({ circuitKey, state, epoch, openUntilMs } satisfies CircuitNotice),
  );
  await tx`select pg_notify(${CIRCUIT_CHANNEL}, notice) from unnest(${notices}::text[]) as notice`;
}

/** Records a successful probe that does not change the state. It also counts as a use. */
export async function writeProbesGood(tx: Tx, key: string, probesGood: number): Promise<void> {
  await tx`update circuits set probes_good = ${probesGood}, last_used_at = now() where circuit_key = ${key}`;
}

const DUE_MAX = 500;

/**
 * Circuits whose cooldown has ended, interleaved by organization, so that one with thousands of origins delays no
 * other.
 */
export async function listCooledDownCircuits(sql: Sql): Promise<string[]> {
  const rows = await sql<{ circuitKey: string }[]>`
    select circuit_key as "circuitKey" from (
      select circuit_key, open_until, row_number() over (partition by org_id order by open_until) as turn
        from circuits where state = 'OPEN' and org_id is not null and open_until <= clock_timestamp()) due
     order by turn, open_until limit ${DUE_MAX}`;
  return rows.map((row) => row.circuitKey);
}

/** Organizations with an account of a built-in provider. */
export async function listOrgIdsWithProvider(tx: Tx, providerSlug: string): Promise<string[]> {
  const rows = await tx<{ orgId: string }[]>`
    select distinct org_id as "orgId" from provider_accounts
     where provider_slug = ${providerSlug} and custom_provider_id is null order by org_id`;
  return rows.map((row) => row.orgId);
}

const ROWS_MAX = 10_000;
const UNUSED_DAYS = 30;
/** There is one row per second, circuit, organization and control plane, so one sweep deletes many batches. */
const SWEEP_STEPS_MAX = 200;

/**
 * Deletes outcomes older than the window, and unused CLOSED circuits. A circuit that ever tripped is deleted only if
 * its last transition is as long ago. By then no data plane remembers its epoch (they forget after a day), so a new row
 * may start at epoch 1.
 */
export async function pruneCircuits(sql: Sql, windowMs: number): Promise<void> {
  for (let step = 0, deletedRows = ROWS_MAX; deletedRows === ROWS_MAX && step < SWEEP_STEPS_MAX; step++) {
    const deleted = await sql`
      delete from circuit_outcomes where ctid = any(array(
        select ctid from circuit_outcomes where second < now() - ${windowMs} * interval '2 milliseconds'
         limit ${ROWS_MAX}))`;
    deletedRows = deleted.count;
  }
  await sql`delete from circuit_probes where expires_at < now() - interval '1 hour'`;
  const isUnused = sql`state = 'CLOSED' and last_used_at < now() - ${UNUSED_DAYS} * interval '1 day'
    and (epoch = 1 or changed_at < now() - ${UNUSED_DAYS} * interval '1 day')`;
  // The condition is repeated, so that a row that is used or changed meanwhile stays.
  await sql`
    delete from circuits where circuit_key in (select circuit_key from circuits where ${isUnused} limit ${ROWS_MAX})
       and ${isUnused}`;
}
