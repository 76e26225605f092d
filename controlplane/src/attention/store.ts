/**
 * SQL for the attention items other than circuits. One statement, so that it costs one connection. Each part uses an
 * index that begins with the organization, and returns {@link SHOWN_PER_KIND_MAX} rows with the total.
 */
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { Metric } from '../alert-rules/alert-state.js';
import type { Sql } from '../db/postgres-client.js';
import { SHOWN_ENDPOINT_URL } from '../db/shown-endpoint-url.js';
import type { AttentionKind } from './schema.js';

export const SHOWN_PER_KIND_MAX = 5;
/** Ratio of spend to budget from which an agent is listed. */
const BUDGET_WARNING_RATIO = 0.8;
const EXPIRES_SOON_DAYS = 7;
/** Tokens with a shorter lifetime, such as those of `acg run`, are meant to expire. */
const SHORT_LIVED_BELOW_DAYS = 7;
/** A key that was not used within this time after its creation was probably never deployed. */
const UNUSED_AFTER_DAYS = 1;

export interface AttentionRow {
  readonly kind: Exclude<AttentionKind, 'circuit_open' | 'sensitive_call' | 'alert_open'>;
  readonly id: string;
  readonly name: string;
  readonly agentId: string | null;
  readonly agentName: string | null;
  readonly providerSlug: string | null;
  readonly at: Date | null;
  /** As text: may exceed 2^53. */
  readonly monthNanos: string | null;
  readonly budgetCents: number | null;
  readonly paused: boolean;
  readonly total: number;
}

/** Most urgent first within each kind. `month` is `YYYY-MM`, for the spend. */
export function loadAttentionRows(sql: Sql, orgId: string, month: string): Promise<AttentionRow[]> {
  const spent = sql`coalesce(m.spent_nanos, 0)`;
  const budgetNanos = sql`a.budget_cents_monthly * ${NANOS_PER_CENT}::float8`;
  const ofMonth = sql`left join month_spend m on m.agent_id = a.id and m.month = ${month}`;
  const none = sql`null::text`;
  const noMoney = sql`null::text, null::bigint`;
  return sql<AttentionRow[]>`
    (select 'budget' as kind, a.id::text as id, a.name, a.id as "agentId", a.name as "agentName",
            ${none} as "providerSlug", null::timestamptz as at, ${spent}::text as "monthNanos",
            a.budget_cents_monthly as "budgetCents", false as paused, count(*) over () as total
       from agents a ${ofMonth}
      where a.org_id = ${orgId} and a.status <> 'revoked' and a.budget_cents_monthly is not null
        and ${spent} >= ${budgetNanos} * ${BUDGET_WARNING_RATIO}::float8
      order by ${spent} / nullif(${budgetNanos}, 0) desc nulls first, a.id limit ${SHOWN_PER_KIND_MAX})
    union all
    (select 'reconnect_needed', coalesce(p.id, c.id)::text, coalesce(p.provider_slug, c.name), p.agent_id, a.name,
            coalesce(p.provider_slug, c.provider_slug), m.failed_at, ${noMoney}, false, count(*) over ()
       from minted_credentials m
       left join provider_accounts p on p.id = m.account_id
       left join agents a on a.id = p.agent_id
       left join credentials c on c.id = m.credential_id
      where m.org_id = ${orgId} and m.failure = 'invalid_grant'
      order by m.failed_at desc, m.id limit ${SHOWN_PER_KIND_MAX})
    union all
    (select 'needs_credentials', c.*, ${noMoney}, false, count(*) over ()
       from (select p.id::text as id, p.provider_slug as name, p.agent_id, a.name as agent_name, p.provider_slug,
                    p.refused_at as at
               from provider_accounts p join agents a on a.id = p.agent_id
              where p.org_id = ${orgId} and p.credential_id is null and p.status = 'needs_credentials'
              union all
             select id::text, name, null, null, provider_slug, refused_at from credentials
              where org_id = ${orgId} and status = 'needs_credentials') c
      order by c.at desc nulls last, c.id limit ${SHOWN_PER_KIND_MAX})
    union all
    (select 'webhook_failing', id::text,
            ${sql.unsafe(SHOWN_ENDPOINT_URL)}, null, null, null, failing_since, ${noMoney}, status = 'paused', count(*) over ()
       from webhook_endpoints
      where org_id = ${orgId} and (failing_since is not null or paused_reason = 'failing')
      order by status = 'paused' desc, failing_since, id limit ${SHOWN_PER_KIND_MAX})
    union all
    (select 'key_expiring', k.id::text, k.name, k.agent_id, a.name, null, k.expires_at, ${noMoney}, false,
            count(*) over ()
       from api_keys k left join agents a on a.id = k.agent_id
      where k.org_id = ${orgId} and k.revoked_at is null and k.replaced_by is null and k.expires_at > now()
        and k.expires_at < now() + make_interval(days => ${EXPIRES_SOON_DAYS})
        and k.expires_at >= k.created_at + make_interval(days => ${SHORT_LIVED_BELOW_DAYS})
      order by k.expires_at, k.id limit ${SHOWN_PER_KIND_MAX})
    union all
    (select 'key_unused', k.id::text, k.name, k.agent_id, a.name, null, k.created_at, ${noMoney}, false,
            count(*) over ()
       from api_keys k left join agents a on a.id = k.agent_id
      where k.org_id = ${orgId} and k.revoked_at is null and k.last_used_at is null
        and (k.expires_at is null or k.expires_at > now())
        and k.created_at < now() - make_interval(days => ${UNUSED_AFTER_DAYS})
      order by k.created_at, k.id limit ${SHOWN_PER_KIND_MAX})
    union all
    (select 'no_budget', a.id::text, a.name, a.id, a.name, null, a.created_at, ${spent}::text, null, false,
            count(*) over ()
       from agents a ${ofMonth}
      where a.org_id = ${orgId} and a.status = 'active' and a.budget_cents_monthly is null
      order by ${spent} desc, a.created_at desc, a.id limit ${SHOWN_PER_KIND_MAX})`;
}

export interface SensitiveAttemptRow {
  /** Id of the key. */
  readonly id: string;
  readonly name: string;
  readonly agentId: string;
  readonly agentName: string | null;
  readonly providerSlug: string;
  /** Of the last attempt. */
  readonly at: Date;
  readonly call: string;
  readonly calls: number;
  readonly clientNetwork: string;
  readonly total: number;
}

const SENSITIVE_DAYS = 7;
/** Recorded attempts that are read: a bound for an organization under attack. */
const SENSITIVE_ROWS_MAX = 1_000;

/** Keys with which agents tried sensitive calls, unless they are revoked or expired; the newest attempt first. */
export function loadSensitiveAttempts(sql: Sql, orgId: string): Promise<SensitiveAttemptRow[]> {
  return sql<SensitiveAttemptRow[]>`
    with recent as (
      select key_id, agent_id, provider_slug, method, path, client_network, rejected_at
        from rejected_calls
       where org_id = ${orgId} and reason = 'sensitive_path'
         and rejected_at > now() - make_interval(days => ${SENSITIVE_DAYS})
       order by rejected_at desc limit ${SENSITIVE_ROWS_MAX}),
    last as (
      select distinct on (key_id) r.*, count(*) over (partition by key_id) as calls
        from recent r order by key_id, rejected_at desc)
    select k.id, k.name, l.agent_id as "agentId", a.name as "agentName", l.provider_slug as "providerSlug",
           l.rejected_at as at, l.method || ' ' || l.path as call, l.calls, l.client_network as "clientNetwork",
           count(*) over () as total
      from last l
      join api_keys k on k.org_id = ${orgId} and k.id = l.key_id and k.revoked_at is null
       and (k.expires_at is null or k.expires_at > now())
      left join agents a on a.id = l.agent_id
     order by l.rejected_at desc, k.id limit ${SHOWN_PER_KIND_MAX}`;
}

export interface OpenAlertRow {
  readonly id: string;
  /** Of the rule. */
  readonly name: string;
  readonly agentId: string | null;
  readonly agentName: string | null;
  readonly metric: Metric;
  readonly at: Date;
  readonly total: number;
}

/** Open alerts without an acknowledgement, of rules that are not silenced; the newest first. */
export function loadOpenAlerts(sql: Sql, orgId: string): Promise<OpenAlertRow[]> {
  return sql<OpenAlertRow[]>`
    select a.id, r.name, r.agent_id as "agentId", g.name as "agentName", r.metric, a.opened_at as at,
           count(*) over () as total
      from alerts a
      join alert_rules r on r.id = a.rule_id
      left join agents g on g.id = r.agent_id
     where a.org_id = ${orgId} and a.resolved_at is null and a.acknowledged_at is null
       and (r.silenced_until is null or r.silenced_until <= now())
     order by a.opened_at desc, a.id limit ${SHOWN_PER_KIND_MAX}`;
}
