/**
 * Sends rejected calls to webhook endpoints (docs/webhooks.md#rejected-calls). The ingest adds up what it books, one row for
 * each agent, provider and reason, and only where an endpoint subscribes. Once a minute the rows of an organization become
 * one event of bounded size. So a flood of rejections costs one row, and one event a minute. Each count is in one event:
 * the rows are deleted in the transaction that appends it.
 */

import { arrayLiteral } from '../db/array-literal.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { appendEvent } from '../events/append-events.js';
import type { EventData } from '../events/event-catalogue.js';
import type { RejectedCallEntry, RejectionEntry } from '../ledger/rejection-and-quarantine-store.js';

/** How long rejections of an organization are added up. */
const COLLECTED_FOR_S = 60;
const SUMMARIES_PER_EVENT = 50;
const ORGS_PER_RUN = 200;

type Data = EventData<'calls.rejected'>;
type LastCall = NonNullable<Data['rejections'][number]['lastCall']>;

interface Summary {
  readonly entry: RejectionEntry;
  count: number;
  firstMinuteMs: number;
  lastMinuteMs: number;
  lastCall: RejectedCallEntry | null;
}

/** Called by the ingest within its transaction. */
export async function addRejectionSummaries(tx: Tx, entries: readonly RejectionEntry[]): Promise<void> {
  const summaries = sumUp(entries);
  if (summaries.length === 0) return;
  const column = (value: (summary: Summary) => string | number | null) => arrayLiteral(summaries, value);
  const minute = (ms: number): string => new Date(ms).toISOString();
  await tx`
    insert into rejection_summaries as s
      (org_id, agent_id, provider_slug, reason, count, first_minute, last_minute, last_call)
    select r.* from unnest(
      ${column(({ entry }) => entry.orgId)}::text::uuid[],
      ${column(({ entry }) => entry.agentId)}::text::uuid[],
      ${column(({ entry }) => entry.providerSlug)}::text::text[],
      ${column(({ entry }) => entry.reason)}::text::text[],
      ${column(({ count }) => count)}::text::bigint[],
      ${column(({ firstMinuteMs }) => minute(firstMinuteMs))}::text::timestamptz[],
      ${column(({ lastMinuteMs }) => minute(lastMinuteMs))}::text::timestamptz[],
      ${column(({ lastCall }) => (lastCall === null ? null : JSON.stringify(describeCall(lastCall))))}::text::jsonb[]
    ) as r(org_id, agent_id, provider_slug, reason, count, first_minute, last_minute, last_call)
     where exists (select from webhook_endpoints w
                    where w.org_id = r.org_id and w.status = 'active' and 'calls.rejected' = any(w.events))
     order by r.org_id, r.agent_id, r.provider_slug, r.reason
    on conflict (org_id, agent_id, provider_slug, reason) do update set
      count = s.count + excluded.count,
      first_minute = least(s.first_minute, excluded.first_minute),
      last_minute = greatest(s.last_minute, excluded.last_minute),
      last_call = case when s.last_call is null or excluded.last_call ->> 'rejectedAt' >= s.last_call ->> 'rejectedAt'
                       then excluded.last_call else s.last_call end`;
}

function sumUp(entries: readonly RejectionEntry[]): readonly Summary[] {
  const sums = new Map<string, Summary>();
  for (const entry of entries) {
    const { orgId, agentId, providerSlug, reason, minuteMs, count, calls } = entry;
    const key = `${orgId} ${agentId} ${providerSlug} ${reason}`;
    const lastCall = newest(calls);
    const known = sums.get(key);
    if (known === undefined) {
      sums.set(key, { entry, count, firstMinuteMs: minuteMs, lastMinuteMs: minuteMs, lastCall });
      continue;
    }
    known.count += count;
    known.firstMinuteMs = Math.min(known.firstMinuteMs, minuteMs);
    known.lastMinuteMs = Math.max(known.lastMinuteMs, minuteMs);
    known.lastCall = newest([known.lastCall, lastCall].filter((call) => call !== null));
  }
  return [...sums.values()];
}

const newest = (calls: readonly RejectedCallEntry[]): RejectedCallEntry | null =>
  calls.reduce<RejectedCallEntry | null>(
    (last, call) => (last === null || call.rejectedAtMs >= last.rejectedAtMs ? call : last),
    null,
  );

/** As `GET /v1/usage/rejected-calls` shows it. */
const describeCall = ({ rejectedAtMs, model, tool, budgetId, ...call }: RejectedCallEntry): LastCall => ({
  id: call.id,
  rejectedAt: new Date(rejectedAtMs).toISOString(),
  keyId: call.keyId,
  status: call.status,
  method: call.method,
  path: call.path,
  model: model || null,
  tool: tool || null,
  clientNetwork: call.clientNetwork,
  budgetId: budgetId || null,
});

/** Appends an event for each organization whose oldest row is due. Returns their number. */
export async function sendRejectionSummaries(sql: Sql, collectedForS = COLLECTED_FOR_S): Promise<number> {
  const orgs = await sql<{ orgId: string }[]>`
    select org_id as "orgId" from rejection_summaries group by org_id
    having min(added_at) <= now() - make_interval(secs => ${collectedForS})
     order by min(added_at) limit ${ORGS_PER_RUN}`;
  let sent = 0;
  for (const { orgId } of orgs) if (await sql.begin((tx) => sendOrgSummaries(tx, orgId, collectedForS))) sent++;
  return sent;
}

/** Leaves rows that a booking holds to the next event, so the two never wait for each other. */
async function sendOrgSummaries(tx: Tx, orgId: string, collectedForS: number): Promise<boolean> {
  const [lock] = await tx<{ acquired: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtext('rejection summaries'), hashtext(${orgId})) as acquired`;
  if (!lock!.acquired) return false;
  const [org] = await tx`select 1 from organizations where id = ${orgId} for key share`;
  const rows = await tx<SummaryRow[]>`
    with deleted as (
      delete from rejection_summaries where ctid = any(array(
        select ctid from rejection_summaries
         where org_id = ${orgId} and exists (
           select from rejection_summaries where org_id = ${orgId}
              and added_at <= now() - make_interval(secs => ${collectedForS}))
           for update skip locked))
      returning *)
    select deleted.agent_id as "agentId", a.name as "agentName", nullif(deleted.provider_slug, '') as "providerSlug",
           deleted.reason, deleted.count, deleted.first_minute as "firstMinute", deleted.last_minute as "lastMinute",
           deleted.last_call as "lastCall", min(deleted.first_minute) over () as first, max(deleted.last_minute) over () as last,
           least(sum(deleted.count) over (), ${Number.MAX_SAFE_INTEGER})::bigint as total
      from deleted left join agents a on a.id = deleted.agent_id and a.org_id = ${orgId}
     order by deleted.count desc, deleted.agent_id, deleted.reason limit ${SUMMARIES_PER_EVENT}`;
  const [anyRow] = rows;
  if (org === undefined || anyRow === undefined) return false;
  const listed = rows.reduce((sum, { count }) => sum + count, 0);
  await appendEvent(tx, orgId, 'calls.rejected', {
    orgId,
    firstMinute: anyRow.first.toISOString(),
    lastMinute: anyRow.last.toISOString(),
    count: anyRow.total,
    omitted: anyRow.total - listed,
    rejections: rows.map(({ first: _first, last: _last, total: _total, ...row }) => ({
      ...row,
      firstMinute: row.firstMinute.toISOString(),
      lastMinute: row.lastMinute.toISOString(),
    })),
  });
  return true;
}

interface SummaryRow {
  readonly agentId: string;
  readonly agentName: string | null;
  readonly providerSlug: string | null;
  readonly reason: string;
  readonly count: number;
  readonly firstMinute: Date;
  readonly lastMinute: Date;
  readonly lastCall: LastCall | null;
  /** Of all rows, also of those beyond the limit. */
  readonly first: Date;
  readonly last: Date;
  readonly total: number;
}
