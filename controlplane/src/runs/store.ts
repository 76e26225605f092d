import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { AgentPolicy } from '../agents/call-and-model-policy-schema.js';
import { containsPattern } from '../db/like-pattern.js';
import { planOnce } from '../db/plan-once.js';
import type { JSONValue, Sql, Tx } from '../db/postgres-client.js';
import { Conflict } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import type { BindingScope, RunState } from './schema.js';

export interface RunRow {
  readonly id: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly projectId: string;
  readonly rootId: string;
  /** Parent first, root last. */
  readonly ancestors: readonly string[];
  readonly label: string;
  readonly state: RunState;
  readonly budgetCents: number;
  readonly spentNanos: number;
  readonly calls: number;
  readonly subRuns: number;
  readonly policy: AgentPolicy | null;
  readonly keyPrefix: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly endedAt: Date | null;
}

export interface NewRun {
  readonly id: string;
  readonly orgId: string;
  readonly agentId: string;
  readonly keyId: string | null;
  readonly trustRuleId: string | null;
  readonly rootId: string;
  readonly ancestors: readonly string[];
  readonly label: string;
  readonly budgetCents: number;
  readonly policy: AgentPolicy | null;
  readonly tokenHash: Buffer;
  readonly keyPrefix: string;
  readonly createdAt: Date;
  readonly createdBy: string | null;
  readonly expiresAt: Date;
}

export interface RunFilter {
  readonly agentId?: string;
  readonly projectId?: string;
  readonly parentId?: string;
  readonly rootId?: string;
  readonly state?: RunState;
  readonly search?: string;
}

/** A run whose time has passed is expired before the job has marked it. */
const stateColumn = (sql: Sql | Tx) => sql`
  case when r.end_reason is not null then r.end_reason when r.expires_at <= now() then 'expired' else 'running' end`;

const columns = (sql: Sql | Tx) => sql`
  r.id, r.agent_id as "agentId", a.name as "agentName", a.project_id as "projectId", r.root_id as "rootId", r.ancestors,
  r.label, ${stateColumn(sql)} as state, r.budget_cents as "budgetCents", s.spent_nanos as "spentNanos",
  (select coalesce(sum(b.calls), 0)::bigint from budget_spend b where b.budget_id = r.id) as calls, (select count(*) from runs c where c.ancestors[1] = r.id and c.ancestors <> '{}') as "subRuns",
  r.policy, r.key_prefix as "keyPrefix", r.created_at as "createdAt", r.expires_at as "expiresAt",
  coalesce(r.ended_at, case when r.expires_at <= now() then r.expires_at end) as "endedAt"`;

const from = (sql: Sql | Tx) => sql`
  runs r join agents a on a.id = r.agent_id
  cross join lateral budget_period_spend(r.org_id, r.id, 'total') s`;

/** The organization's runs, newest first; only top runs unless the filter names a run. */
export async function listRuns(
  sql: Sql,
  orgId: string,
  { agentId, projectId, parentId, rootId, state, search }: RunFilter,
  page: Page,
): Promise<ListResult<RunRow>> {
  const where = sql`r.org_id = ${orgId}
    ${agentId === undefined ? sql`` : sql`and r.agent_id = ${agentId}`}
    ${projectId === undefined ? sql`` : sql`and a.project_id = ${projectId}`}
    ${parentId === undefined ? sql`` : sql`and r.ancestors <> '{}' and r.ancestors[1] = ${parentId}`}
    ${rootId === undefined ? sql`` : sql`and r.root_id = ${rootId}`}
    ${parentId === undefined && rootId === undefined && search === undefined ? sql`and r.ancestors = '{}'` : sql``}
    ${state === undefined ? sql`` : sql`and ${stateColumn(sql)} = ${state}`}
    ${search === undefined ? sql`` : sql`and (r.label ilike ${containsPattern(search)} or r.id::text = ${search.toLowerCase()})`}`;
  const rows = await sql<RunRow[]>`
    select ${columns(sql)} from ${from(sql)} where ${where}
     order by r.id desc limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`
    select count(*) as total from runs r join agents a on a.id = r.agent_id where ${where}`;
  return { rows, total: count!.total };
}

export async function loadRun(sql: Sql | Tx, orgId: string, id: string): Promise<RunRow | null> {
  const [row] = await sql<
    RunRow[]
  >`select ${columns(sql)} from ${from(sql)} where r.org_id = ${orgId} and r.id = ${id}`;
  return row ?? null;
}

/** What a run is started for. */
export interface StartingAgent {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly status: 'active' | 'paused' | 'revoked';
  readonly policy: AgentPolicy | null;
}

/** For transactions that start or end a run: their statements look up single runs and agents. */
const planTransactionOnce = (tx: Tx) => tx`select ${planOnce(tx, 'end of transaction')}`;

/** The agent, locked against changes. Null: the organization has no such agent. */
export async function lockStartingAgent(tx: Tx, orgId: string, id: string): Promise<StartingAgent | null> {
  const [, [row]] = await Promise.all([
    planTransactionOnce(tx),
    tx<StartingAgent[]>`
      select id, name, project_id as "projectId", status, policy from agents
       where org_id = ${orgId} and id = ${id} for share`,
  ]);
  return row ?? null;
}

/** The gateway token of a request about runs: a key of the agent, or the token of a run. */
export interface Starter {
  readonly orgId: string;
  readonly agent: StartingAgent;
  /** The key, or the one that started the token's run; null: none did. */
  readonly keyId: string | null;
  /** The rule of the token's exchange, or of the one that started its run. */
  readonly trustRuleId: string | null;
  /** When the token expires; null: never. */
  readonly expiresAt: Date | null;
  /** Null: the token is a key. */
  readonly runId: string | null;
}

/** The policies and ends of a run and its ancestors, the run first. */
interface ChainLink {
  readonly id: string;
  readonly policy: AgentPolicy | null;
  readonly expiresAt: Date;
}

interface TokenOfAgent {
  readonly tokenHash: Uint8Array;
  readonly orgId: string;
  readonly agentId: string;
}

/**
 * Finds the token's agent, its run and the ancestors of that, and locks these runs against their end: an end would not see a
 * sub-run that starts meanwhile. Null: no such token, or it is not of that agent.
 */
export async function lockStarter(
  tx: Tx,
  token: TokenOfAgent,
): Promise<{ readonly starter: Starter; readonly chain: readonly ChainLink[] } | null> {
  const ofToken = tx`(select ancestors || id from runs where token_hash = ${token.tokenHash})`;
  // One round trip. The later queries see what was committed before the locks were had. Locks are taken from the top
  // down, as by endRun.
  const [, , [starter], chain] = await Promise.all([
    planTransactionOnce(tx),
    tx`select from runs where id = any(${ofToken}::uuid[]) order by cardinality(ancestors) for share`,
    selectStarter(tx, token),
    tx<ChainLink[]>`
      select id, policy, expires_at as "expiresAt" from runs where id = any(${ofToken}::uuid[])
       order by cardinality(ancestors) desc`,
  ]);
  return starter === undefined ? null : { starter, chain };
}

/**
 * Finds the token's agent and run. Null: no such token, or it is not of that agent. A key of a project or an organization
 * may start runs of any of its agents.
 */
export async function findStarter(tx: Tx, token: TokenOfAgent): Promise<Starter | null> {
  const [, [row]] = await Promise.all([planTransactionOnce(tx), selectStarter(tx, token)]);
  return row ?? null;
}

const selectStarter = (tx: Tx, { tokenHash, orgId, agentId }: TokenOfAgent) => tx<Starter[]>`
    with run as (
      select r.org_id, r.agent_id, r.key_id, r.trust_rule_id, r.expires_at, r.id
        from runs r
       where r.token_hash = ${tokenHash} and r.ended_at is null and r.expires_at > now()
         and not exists (select from runs p where p.id = any(r.ancestors) and p.ended_at is not null)
    ), token as (
      select org_id, agent_id, null::uuid as project_id, key_id, trust_rule_id, expires_at, id as run_id from run
      union all
      select k.org_id, k.agent_id, case when k.scope = 'project' then k.project_id end, k.id, null, k.expires_at, null
        from api_keys k
       where k.token_hash = ${tokenHash} and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
      union all
      select t.org_id, t.agent_id, null, null, t.id, x.expires_at, null
        from trust_rule_keys x join trust_rules t on t.id = x.rule_id
       where x.token_hash = ${tokenHash} and x.expires_at > now() and t.deleted_at is null
    )
    select t.org_id as "orgId", t.key_id as "keyId", t.trust_rule_id as "trustRuleId", t.expires_at as "expiresAt",
           t.run_id as "runId", jsonb_build_object('id', a.id, 'name', a.name, 'projectId', a.project_id,
                                                   'status', a.status, 'policy', a.policy) as agent
      from token t
      join agents a on a.org_id = t.org_id and a.org_id = ${orgId} and a.id = ${agentId}
       and a.id = coalesce(t.agent_id, a.id) and a.project_id = coalesce(t.project_id, a.project_id)`;

/** Counts running runs up to `max`. */
export async function countRunning(tx: Tx, orgId: string, max: number): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*) as count from (select from runs where org_id = ${orgId} and ended_at is null limit ${max}) r`;
  return row!.count;
}

/** Throws {@link Conflict} when the organization is being deleted. */
export async function insertRun(tx: Tx, run: NewRun): Promise<void> {
  const inserted = await tx`
    insert into runs (id, org_id, agent_id, key_id, trust_rule_id, root_id, ancestors, label, budget_cents, policy, token_hash, key_prefix,
                      created_at, created_by, expires_at)
    select ${run.id}::uuid, ${run.orgId}::uuid, ${run.agentId}::uuid, ${run.keyId}::uuid, ${run.trustRuleId}::uuid, ${run.rootId}::uuid,
           ${[...run.ancestors]}::uuid[], ${run.label}, ${run.budgetCents}::bigint,
           ${run.policy === null ? null : tx.json(run.policy as JSONValue)}::jsonb, ${run.tokenHash}::bytea,
           ${run.keyPrefix}, ${run.createdAt}::timestamptz, ${run.createdBy}::uuid, ${run.expiresAt}::timestamptz
      from organizations where id = ${run.orgId} and purge_at is null for key share`;
  if (inserted.count === 0) throw new Conflict('the organization is being deleted: restore it before you start a run');
}

interface RemainingBudget {
  readonly scope: BindingScope;
  readonly id: string;
  readonly remainingCents: number;
}

/** What is left, by the ledger, of the budgets above a run, least first. */
export async function listRemainingBudgets(
  tx: Tx,
  agentId: string,
  ancestors: readonly string[],
): Promise<readonly RemainingBudget[]> {
  return tx<RemainingBudget[]>`
    with month as (select to_char(now() at time zone 'UTC', 'YYYY-MM') as name),
    budgets as (
      select 'run' as scope, r.id, r.budget_cents as cents, s.spent_nanos as spent
        from runs r cross join lateral budget_period_spend(r.org_id, r.id, 'total') s
       where r.id = any(${[...ancestors]}::uuid[])
      union all
      select 'agent', a.id, a.budget_cents_monthly, coalesce(m.spent_nanos, 0)
        from agents a cross join month left join month_spend m on m.agent_id = a.id and m.month = month.name
       where a.id = ${agentId}
      union all
      select of.scope, of.id, of.cents, coalesce(s.spent_nanos, 0)
        from agents a join projects p on p.id = a.project_id join organizations o on o.id = a.org_id cross join month
       cross join lateral (values ('project', p.id, p.budget_cents_monthly), ('org', o.id, o.budget_cents_monthly))
             as of (scope, id, cents)
       left join lateral scope_month(of.scope, of.id, month.name) s on true
       where a.id = ${agentId})
    select scope, id, greatest(0, cents - floor(spent / ${NANOS_PER_CENT}::numeric))::float8 as "remainingCents"
      from budgets where cents is not null order by 3`;
}

/** Ends a run and its sub-runs. Returns the ids of those that were running. */
export async function endRun(tx: Tx, orgId: string, id: string): Promise<readonly string[]> {
  // Expired runs below an ended one may be left to `claimExpiredRuns`.
  const tree = tx`
    with recursive tree (id) as (
      select id from runs where org_id = ${orgId} and id = ${id} and ended_at is null
      union all
      select c.id from tree join runs c on c.ancestors[1] = tree.id and c.ancestors <> '{}' and c.ended_at is null)`;
  // One round trip. The first waits for sub-runs that are being started, which the others would not see. Runs are locked
  // from the top down, so that two ends within a tree do not wait for each other.
  const [, , rows] = await Promise.all([
    tx`select from runs where org_id = ${orgId} and id = ${id} for no key update`,
    tx`${tree} select from runs where id in (select id from tree) order by cardinality(ancestors), id for no key update`,
    tx<{ id: string }[]>`
      ${tree} update runs set ended_at = now(), end_reason = 'ended'
       where id in (select id from tree) and ended_at is null and expires_at > now() returning id`,
  ]);
  return rows.map((row) => row.id);
}

const EXPIRED_PER_TICK = 2_000;

export interface ExpiredRun {
  readonly id: string;
  readonly orgId: string;
  readonly isTop: boolean;
}

/** Marks runs whose time has passed; each is returned once. */
export async function claimExpiredRuns(tx: Tx): Promise<readonly ExpiredRun[]> {
  return tx<ExpiredRun[]>`
    update runs set ended_at = expires_at, end_reason = 'expired'
     where id in (select id from runs where ended_at is null and expires_at <= now()
                   order by expires_at limit ${EXPIRED_PER_TICK} for update skip locked)
    returning id, org_id as "orgId", ancestors = '{}' as "isTop"`;
}

const KEPT_DAYS = 30;
const KEPT_PER_ORGANIZATION = 100_000;
/** Runs that one call of {@link deleteOldRuns} deletes at most. */
export const DELETED_PER_TICK = 10_000;

/**
 * Deletes ended runs after {@link KEPT_DAYS} days, and those of an organization beyond its newest
 * {@link KEPT_PER_ORGANIZATION}, each with its spend and its audit entries. Runs with running sub-runs stay. Returns the
 * number of deleted runs.
 */
export async function deleteOldRuns(tx: Tx): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    with crowded as (
      select org_id, (select ended_at from runs k where k.org_id = o.org_id and k.ended_at is not null
                       order by ended_at desc offset ${KEPT_PER_ORGANIZATION} limit 1) as oldest_kept
        from (select org_id from runs where ended_at is not null group by org_id having count(*) > ${KEPT_PER_ORGANIZATION}) o
    ), old as (
      select r.id from runs r left join crowded c on c.org_id = r.org_id
       where r.ended_at is not null
         and (r.ended_at < now() - make_interval(days => ${KEPT_DAYS}) or r.ended_at <= c.oldest_kept)
         and not exists (select from runs child where child.ancestors[1] = r.id and child.ancestors <> '{}'
                            and child.ended_at is null)
       limit ${DELETED_PER_TICK} for update of r skip locked
    ), spend as (delete from budget_spend where budget_id in (select id from old)
    ), entries as (delete from audit_entries where target_type = 'run' and target_id in (select id::text from old)
    ), gone as (delete from runs where id in (select id from old) returning 1)
    select count(*) as count from gone`;
  return row!.count;
}
