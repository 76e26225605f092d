/**
 * Emits `abuse.detected` at most once per agent and hour (docs/contract.md#events): for sustained rejections, many
 * upstream 401/403, or one gateway token used from many addresses. Counts per minute are stored in Postgres, so all
 * control planes count together. Old minutes and addresses are pruned, and no more addresses of a token are stored than
 * needed.
 */
import { countsAsAbuse } from '@acg/base/rejection-reasons';
import { MINUTE_MS } from '@acg/base/time-and-money-units';
import type { Sql, Tx } from '../db/postgres-client.js';
import { appendEvent } from '../events/append-events.js';
import type { AbuseReason } from '../events/event-catalogue.js';

/** Counts from which on usage is reported as abuse. */
export interface AbuseThresholds {
  /** Rejections in five minutes. */
  readonly rejections: number;
  /** Responses 401 and 403 of providers in five minutes. */
  readonly authFailures: number;
  /** Distinct IP addresses of one gateway token in ten minutes. */
  readonly addresses: number;
}

interface AbuseRejection {
  readonly agentId: string;
  readonly reason: string;
  readonly minuteMs: number;
  readonly count: number;
}

interface AbuseCall {
  readonly agentId: string;
  /** 0: no response. */
  readonly upstreamStatus: number;
  readonly startedAtMs: number;
}

interface AbuseIpObservation {
  readonly agentId: string;
  readonly keyId: string;
  /** Hash of the IP address, hex. */
  readonly addressHash: string;
  readonly seenAtMs: number;
}

/** Usage that one transaction of the ingest booked for the first time. */
export interface AbuseSignals {
  readonly entries: readonly AbuseCall[];
  readonly rejections: readonly AbuseRejection[];
  readonly ipObservations: readonly AbuseIpObservation[];
}

/** Whole minutes including the current one, so at most five minutes are counted. */
const COUNT_MINUTES = 5;
const ADDRESS_MINUTES = 10;

interface MinuteCount {
  readonly agentId: string;
  readonly reason: 'rejections' | 'auth_failures';
  readonly minuteMs: number;
  count: number;
}

interface AbuseFinding {
  readonly agentId: string;
  readonly reason: AbuseReason;
  readonly count: number;
}

/** Called by the ingest within its transaction. */
export async function detectAbuse(tx: Tx, config: AbuseThresholds, signals: AbuseSignals): Promise<void> {
  const findings: AbuseFinding[] = [];
  const minutes = countByMinute(signals);
  if (minutes.length > 0) findings.push(...(await addMinuteCounts(tx, config, minutes)));
  if (signals.ipObservations.length > 0)
    findings.push(...(await addTokenAddresses(tx, config, signals.ipObservations)));
  findings.sort((a, b) => (a.agentId < b.agentId ? -1 : 1)); // the same lock order in all transactions
  for (const finding of findings) await appendAbuseEvent(tx, finding);
}

function countByMinute({ entries, rejections }: AbuseSignals): MinuteCount[] {
  const counts = new Map<string, MinuteCount>();
  const add = (agentId: string, reason: MinuteCount['reason'], atMs: number, count: number): void => {
    const minuteMs = atMs - (atMs % MINUTE_MS);
    const key = `${agentId} ${reason} ${minuteMs}`;
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { agentId, reason, minuteMs, count });
    else known.count += count;
  };
  for (const { agentId, reason, minuteMs, count } of rejections) {
    if (countsAsAbuse(reason)) add(agentId, 'rejections', minuteMs, count);
  }
  for (const { agentId, upstreamStatus, startedAtMs } of entries) {
    if (upstreamStatus === 401 || upstreamStatus === 403) add(agentId, 'auth_failures', startedAtMs, 1);
  }
  return [...counts.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count);
}

async function addMinuteCounts(
  tx: Tx,
  config: AbuseThresholds,
  minutes: readonly MinuteCount[],
): Promise<AbuseFinding[]> {
  const rows = minutes.map((m) => ({ ...m }));
  await tx`
    insert into abuse_counts as c (agent_id, reason, minute, count)
    select r."agentId", r.reason, to_timestamp(r."minuteMs" / 1000.0), r.count
      from jsonb_to_recordset(${tx.json(rows)}) as r("agentId" uuid, reason text, "minuteMs" bigint, count bigint)
    on conflict (agent_id, reason, minute) do update set count = c.count + excluded.count`;
  const newest = new Map<string, { agentId: string; reason: MinuteCount['reason']; minuteMs: number }>();
  for (const minute of minutes) newest.set(`${minute.agentId} ${minute.reason}`, { ...minute });
  const ends = [...newest.values()].map(({ agentId, reason, minuteMs }) => ({ agentId, reason, minuteMs }));
  return tx<AbuseFinding[]>`
    select c.agent_id as "agentId", c.reason, sum(c.count)::bigint as count
      from jsonb_to_recordset(${tx.json(ends)}) as r("agentId" uuid, reason text, "minuteMs" bigint)
      join abuse_counts c on c.agent_id = r."agentId" and c.reason = r.reason
       and c.minute <= to_timestamp(r."minuteMs" / 1000.0)
       and c.minute > to_timestamp(r."minuteMs" / 1000.0) - ${COUNT_MINUTES} * interval '1 minute'
     group by c.agent_id, c.reason
    having sum(c.count) >= case c.reason when 'rejections' then ${config.rejections}::bigint
                                         else ${config.authFailures}::bigint end`;
}

/** Addresses stored per token beyond the threshold. */
const ADDRESSES_SPARE = 5;

async function addTokenAddresses(
  tx: Tx,
  config: AbuseThresholds,
  ipObservations: readonly AbuseIpObservation[],
): Promise<AbuseFinding[]> {
  const rows = [...new Map(ipObservations.map((s) => [`${s.keyId} ${s.addressHash}`, s])).entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { keyId, addressHash, seenAtMs }]) => ({ keyId, addressHash, seenAtMs }));
  const windowStart = tx`now() - ${ADDRESS_MINUTES} * interval '1 minute'`;
  await tx`
    with seen as (
      select r."keyId" as key_id, decode(r."addressHash", 'hex') as address_hash,
             least(to_timestamp(r."seenAtMs" / 1000.0), now()) as seen_at,
             row_number() over (partition by r."keyId") as position
        from jsonb_to_recordset(${tx.json(rows)}) as r("keyId" uuid, "addressHash" text, "seenAtMs" bigint)
         -- The keys of a trust rule count as one, and each of its workloads has an address of its own.
       where not exists (select from trust_rules t where t.id = r."keyId")),
    kept as (
      select key_id, count(*) as addresses from abuse_addresses
       where key_id in (select key_id from seen) and seen_at > ${windowStart} group by key_id)
    insert into abuse_addresses as a (key_id, address_hash, seen_at)
    select s.key_id, s.address_hash, s.seen_at
      from seen s left join kept k on k.key_id = s.key_id
     where coalesce(k.addresses, 0) + s.position <= ${config.addresses + ADDRESSES_SPARE}
     order by s.key_id, s.address_hash
    on conflict (key_id, address_hash) do update set seen_at = greatest(a.seen_at, excluded.seen_at)`;
  const counts = await tx<{ keyId: string; count: number }[]>`
    select key_id as "keyId", count(*) as count from abuse_addresses
     where key_id = any(${[...new Set(rows.map((row) => row.keyId))]}::uuid[]) and seen_at > ${windowStart}
     group by key_id having count(*) >= ${config.addresses}`;
  const agentIdByKey = new Map(ipObservations.map((sighting) => [sighting.keyId, sighting.agentId]));
  return counts.map(({ keyId, count }) => ({ agentId: agentIdByKey.get(keyId)!, reason: 'addresses', count }));
}

/** Appends the event unless the agent had one within the last hour. A deleted agent gets none. */
async function appendAbuseEvent(tx: Tx, { agentId, reason, count }: AbuseFinding): Promise<void> {
  const [agent] = await tx<{ orgId: string; name: string }[]>`
    select org_id as "orgId", name from agents where id = ${agentId}`;
  if (agent === undefined) return;
  const fired = await tx`
    insert into event_facts as f (fact, at) values (${`abuse:${agentId}`}, now())
    on conflict (fact) do update set at = excluded.at where f.at <= excluded.at - interval '1 hour'
    returning 1`;
  if (fired.length === 0) return;
  const minutes = reason === 'addresses' ? ADDRESS_MINUTES : COUNT_MINUTES;
  await appendEvent(tx, agent.orgId, 'abuse.detected', {
    agentId,
    agentName: agent.name,
    reason,
    count,
    windowSeconds: minutes * 60,
    orgId: agent.orgId,
  });
}

/** Deletes minutes and addresses outside every window. */
export async function deleteOldAbuseCounts(sql: Sql): Promise<void> {
  await sql`delete from abuse_counts where minute < now() - ${COUNT_MINUTES * 3} * interval '1 minute'`;
  await sql`delete from abuse_addresses where seen_at < now() - ${ADDRESS_MINUTES} * interval '1 minute'`;
}
