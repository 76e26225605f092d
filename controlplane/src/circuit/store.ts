import type { JSONValue, Sql, Tx } from '../db/sql.js';
import type { Circuit, CircuitStateName, OrgCount, OrgWindow } from './state-machine.js';

/** Channel of LISTEN/NOTIFY; the payload is a {@link CircuitNotice} as JSON. */
export const CIRCUIT_CHANNEL = 'circuits';

/** What data planes are told of a circuit. */
export interface CircuitNotice {
  readonly circuitKey: string;
  readonly state: CircuitStateName;
  readonly epoch: number;
  /** Unix ms by the database's clock; 0 unless OPEN. */
  readonly openUntilMs: number;
}

export interface CircuitRow extends Circuit {
  readonly circuitKey: string;
  readonly providerSlug: string;
  readonly orgId: string | null;
  readonly changedAtMs: number;
  /** The database's clock when the row was read. */
  readonly nowMs: number;
}

const columns = (sql: Sql | Tx) => sql`
  circuit_key as "circuitKey", provider_slug as "providerSlug", org_id as "orgId", state, epoch,
  coalesce(floor(extract(epoch from open_until) * 1000), 0)::float8 as "openUntilMs", probes_good as "probesGood",
  floor(extract(epoch from changed_at) * 1000)::float8 as "changedAtMs",
  floor(extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`;

export function loadCircuits(sql: Sql, keys: readonly string[]): Promise<CircuitRow[]> {
  return sql<CircuitRow[]>`select ${columns(sql)} from circuits where circuit_key = any(${[...keys]}::text[])`;
}

/**
 * Locks the row until the transaction ends: `no key`, so that writers of outcomes, whose foreign keys point at it, go on.
 */
export async function lockCircuit(tx: Tx, key: string): Promise<CircuitRow | null> {
  const [row] = await tx<
    CircuitRow[]
  >`select ${columns(tx)} from circuits where circuit_key = ${key} for no key update`;
  return row ?? null;
}

/** Adds circuits that were not used before. Those of an organization that is gone are left out. */
export async function insertCircuits(
  sql: Sql,
  circuits: readonly { circuitKey: string; providerSlug: string; orgId: string | null }[],
): Promise<void> {
  await sql`
    insert into circuits (circuit_key, provider_slug, org_id)
    select r.key, r.slug, r.org_id
      from unnest(${circuits.map((c) => c.circuitKey)}::text[], ${circuits.map((c) => c.providerSlug)}::text[],
                  ${circuits.map((c) => c.orgId)}::uuid[]) as r(key, slug, org_id)
     where r.org_id is null or exists (select 1 from organizations o where o.id = r.org_id)
    on conflict (circuit_key) do nothing`;
}

export interface OutcomeCount extends OrgCount {
  readonly circuitKey: string;
  readonly epoch: number;
  readonly orgId: string;
  /** Unix ms of the whole second. */
  readonly secondMs: number;
}

/** Adds counts to the writer's own rows; marks the circuits as used. */
export async function addOutcomes(sql: Sql, writer: string, counts: readonly OutcomeCount[]): Promise<void> {
  await sql`
    insert into circuit_outcomes as o (circuit_key, epoch, second, org_id, writer, requests, failures)
    select r."circuitKey", r.epoch, to_timestamp(r."secondMs" / 1000.0), r."orgId", ${writer}, r.requests, r.failures
      from jsonb_to_recordset(${sql.json(counts as unknown as JSONValue)}) as r(
        "circuitKey" text, epoch bigint, "secondMs" bigint, "orgId" uuid, requests integer, failures integer)
    on conflict (circuit_key, epoch, second, org_id, writer)
    do update set requests = o.requests + excluded.requests, failures = o.failures + excluded.failures`;
}

const USED_STEP_S = 10;

/** Keeps `last_used_at` right to {@link USED_STEP_S} without a write per request. */
export async function touchCircuits(sql: Sql, keys: readonly string[]): Promise<void> {
  await sql`
    update circuits set last_used_at = now() where circuit_key in (
      select circuit_key from circuits
       where circuit_key = any(${[...keys]}::text[]) and last_used_at < now() - ${USED_STEP_S} * interval '1 second'
       order by circuit_key for update skip locked)`;
}

/** What each organization saw of the circuits' present epoch in the window, by circuit. */
export async function windowCounts(
  sql: Sql | Tx,
  keys: readonly string[],
  windowMs: number,
): Promise<ReadonlyMap<string, readonly OrgWindow[]>> {
  const rows = await sql<(OrgWindow & { circuitKey: string })[]>`
    select o.circuit_key as "circuitKey", sum(o.requests) as requests, sum(o.failures) as failures,
           sum(o.requests) > sum(o.failures) or exists (
             select 1 from circuit_successes s
              where s.circuit_key = o.circuit_key and s.org_id = o.org_id and s.at > now() - interval '1 day'
           ) as succeeded
      from circuit_outcomes o join circuits c on c.circuit_key = o.circuit_key and c.epoch = o.epoch
     where o.circuit_key = any(${[...keys]}::text[])
       and o.second > clock_timestamp() - ${windowMs} * interval '1 millisecond'
     group by o.circuit_key, o.org_id`;
  const byCircuit = new Map<string, OrgWindow[]>();
  for (const { circuitKey, ...window } of rows) {
    const windows = byCircuit.get(circuitKey);
    if (windows === undefined) byCircuit.set(circuitKey, [window]);
    else windows.push(window);
  }
  return byCircuit;
}

/**
 * Writes the circuit and tells every control plane at commit. Counts of the old epoch stay until they are pruned: they
 * mean nothing any more, and deleting them here could deadlock with those who are adding to them.
 */
export async function writeCircuit(
  tx: Tx,
  key: string,
  to: Circuit,
  reason: 'error_rate' | 'probe_failed' | null,
): Promise<void> {
  const openUntil = to.state === 'OPEN' ? new Date(to.openUntilMs) : null;
  await tx`
    update circuits set state = ${to.state}, epoch = ${to.epoch}, probes_good = ${to.probesGood},
           open_until = ${openUntil}, changed_at = clock_timestamp(), reason = ${reason} where circuit_key = ${key}`;
  await tx`delete from circuit_probes where circuit_key = ${key}`;
  const notice: CircuitNotice = {
    circuitKey: key,
    state: to.state,
    epoch: to.epoch,
    openUntilMs: to.state === 'OPEN' ? to.openUntilMs : 0,
  };
  await tx`select pg_notify(${CIRCUIT_CHANNEL}, ${JSON.stringify(notice)})`;
}

export async function writeProbesGood(tx: Tx, key: string, probesGood: number): Promise<void> {
  await tx`update circuits set probes_good = ${probesGood} where circuit_key = ${key}`;
}

const DUE_MAX = 200;

/** Circuits whose cooldown has ended: providers in turn, so that one with thousands of origins keeps no other's open. */
export async function cooledDown(sql: Sql): Promise<string[]> {
  const rows = await sql<{ circuitKey: string }[]>`
    select circuit_key as "circuitKey" from (
      select circuit_key, open_until, row_number() over (partition by provider_slug, org_id order by open_until) as turn
        from circuits where state = 'OPEN' and open_until <= clock_timestamp()) due
     order by turn, open_until limit ${DUE_MAX}`;
  return rows.map((row) => row.circuitKey);
}

/** Organizations with an account on the circuit's origin. */
export async function organizationsOn(tx: Tx, circuit: CircuitRow, oneOrigin: boolean): Promise<string[]> {
  if (circuit.orgId !== null) return [circuit.orgId];
  const rows = await tx<{ orgId: string }[]>`
    select distinct org_id as "orgId" from provider_accounts
     where provider_slug = ${circuit.providerSlug} and custom_provider_id is null
       and (${oneOrigin} or circuit_key = ${circuit.circuitKey}) order by org_id`;
  return rows.map((row) => row.orgId);
}

const ROWS_MAX = 10_000;
const UNUSED_DAYS = 30;
/** Outcomes come by the second, circuit, organization and control plane: one sweep takes all that is old. */
const SWEEP_STEPS_MAX = 200;

/**
 * Drops what the window has passed, and CLOSED circuits that are not used any more. One that has tripped goes only when
 * its last transition is as long ago: by then no data plane remembers its epoch (theirs is a day), and a new row of its
 * name may begin at the first one.
 */
export async function pruneCircuits(sql: Sql, windowMs: number): Promise<void> {
  for (let step = 0, gone = ROWS_MAX; gone === ROWS_MAX && step < SWEEP_STEPS_MAX; step++) {
    const deleted = await sql`
      delete from circuit_outcomes where ctid = any(array(
        select ctid from circuit_outcomes where second < now() - ${windowMs} * interval '2 milliseconds'
         limit ${ROWS_MAX}))`;
    gone = deleted.count;
  }
  await sql`delete from circuit_probes where expires_at < now() - interval '1 hour'`;
  const isUnused = sql`state = 'CLOSED' and last_used_at < now() - ${UNUSED_DAYS} * interval '1 day'
    and (epoch = 1 or changed_at < now() - ${UNUSED_DAYS} * interval '1 day')`;
  // Asked twice: a row that is used or moves meanwhile stays.
  await sql`
    delete from circuits where circuit_key in (select circuit_key from circuits where ${isUnused} limit ${ROWS_MAX})
       and ${isUnused}`;
}
