import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { AgentPolicy } from '../agents/call-and-model-policy-schema.js';
import { arrayLiteral } from '../db/array-literal.js';
import { planOnce } from '../db/plan-once.js';
import type { JSONValue, Sql, Tx } from '../db/postgres-client.js';
import { Conflict } from '../domain/errors.js';
import { type BindingScope, type RunState, SUB_RUNS_COUNTED_MAX } from './schema.js';

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

/** A run whose time has passed is expired before the job has marked it. */
export const stateColumn = (sql: Sql | Tx) => sql`
  case when r.end_reason is not null then r.end_reason when r.expires_at <= now() then 'expired' else 'running' end`;

export const columns = (sql: Sql | Tx) => sql`
  r.id, r.agent_id as "agentId", a.name as "agentName", a.project_id as "projectId", r.root_id as "rootId", r.ancestors,
  r.label, ${stateColumn(sql)} as state, r.budget_cents as "budgetCents", s.spent_nanos as "spentNanos",
  (select coalesce(sum(b.calls), 0)::bigint from budget_spend b where b.budget_id = r.id) as calls,
  (select count(*) from (select from runs where ancestors[1] = r.id and ancestors <> '{}' limit ${SUB_RUNS_COUNTED_MAX}) c) as "subRuns",
  r.policy, r.key_prefix as "keyPrefix", r.created_at as "createdAt", r.expires_at as "expiresAt",
  coalesce(r.ended_at, case when r.expires_at <= now() then r.expires_at end) as "endedAt"`;

export const from = (sql: Sql | Tx) => sql`
  runs r join agents a on a.id = r.agent_id
  cross join lateral budget_period_spend(r.org_id, r.id, 'total') s`;

export async function loadRun(sql: Sql | Tx, orgId: string, id: string): Promise<RunRow | null> {
  const [row] = await loadRuns(sql, orgId, [id]);
  return row ?? null;
}

/** In no order. */
const loadRuns = (sql: Sql | Tx, orgId: string, ids: readonly string[]) => sql<RunRow[]>`
  select ${columns(sql)} from ${from(sql)} where r.org_id = ${orgId} and r.id = any(${[...ids]}::uuid[])`;

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
  readonly agent: StartingAgent;
  /** The key, or the one that started the token's run; null: none did. */
  readonly keyId: string | null;
  /** The rule of the token's exchange, or of the one that started its run. */
  readonly trustRuleId: string | null;
  /** When the token expires; null: never. */
  readonly expiresAt: Date | null;
  /** Null: the token is a key. */
  readonly runId: string | null;
  /** The token's run first, its top run last; empty: the token is a key. */
  readonly chain: readonly ChainLink[];
}

interface ChainLink {
  readonly id: string;
  readonly policy: AgentPolicy | null;
  readonly expiresAt: Date;
}

interface TokenOfAgent {
  readonly tokenHash: Uint8Array;
  readonly agentId: string;
}

/**
 * Finds the agent of each token, its run and the ancestors of that, and locks these runs against their end: an end would
 * not see a sub-run that starts meanwhile. Undefined: no such token, or it is not of that agent.
 */
export async function lockStarters(
  tx: Tx,
  orgId: string,
  tokens: readonly TokenOfAgent[],
): Promise<readonly (Starter | undefined)[]> {
  // One round trip. The later query sees what was committed before the locks were had. Locks are taken from the top
  // down, as by endRuns.
  const [, , rows] = await Promise.all([
    planTransactionOnce(tx),
    tx`
      select from runs where id in (select unnest(ancestors || id) from runs where token_hash = any(${hashesOf(tokens)}::text::bytea[]))
       order by cardinality(ancestors), id for share`,
    selectStarters(tx, orgId, tokens),
  ]);
  return byPosition(rows, tokens.length);
}

/** Part of a run, to decide whose it is. */
export interface RunOwner {
  readonly id: string;
  readonly agentId: string;
  readonly ancestors: readonly string[];
}

/**
 * Finds the agent and the run of each token, and the runs with these ids. Undefined: no such token, or it is not of that
 * agent. A key of a project or an organization may start runs of any of its agents.
 */
export async function findStartersAndRuns(
  tx: Tx,
  orgId: string,
  tokens: readonly TokenOfAgent[],
  ids: readonly string[],
): Promise<{ readonly starters: readonly (Starter | undefined)[]; readonly runs: ReadonlyMap<string, RunOwner> }> {
  const [, rows, runs] = await Promise.all([
    planTransactionOnce(tx),
    selectStarters(tx, orgId, tokens),
    tx<RunOwner[]>`
      select id, agent_id as "agentId", ancestors from runs where org_id = ${orgId} and id = any(${[...ids]}::uuid[])`,
  ]);
  return { starters: byPosition(rows, tokens.length), runs: new Map(runs.map((run) => [run.id, run])) };
}

const hashesOf = (tokens: readonly TokenOfAgent[]): string =>
  arrayLiteral(tokens, ({ tokenHash }) => `\\x${Buffer.from(tokenHash).toString('hex')}`);

type StarterRow = Omit<Starter, 'chain'> & {
  readonly position: number;
  readonly chain: readonly (Omit<ChainLink, 'expiresAt'> & { readonly expiresAt: string })[];
};

function byPosition(rows: readonly StarterRow[], count: number): readonly (Starter | undefined)[] {
  const starters = new Array<Starter | undefined>(count).fill(undefined);
  for (const { position, chain, ...row } of rows)
    starters[position - 1] = {
      ...row,
      chain: chain.map((link) => ({ ...link, expiresAt: new Date(link.expiresAt) })),
    };
  return starters;
}

const selectStarters = (tx: Tx, orgId: string, tokens: readonly TokenOfAgent[]) => tx<StarterRow[]>`
    select q.position, found.*
      from unnest(${hashesOf(tokens)}::text::bytea[], ${arrayLiteral(tokens, ({ agentId }) => agentId)}::text::uuid[])
           with ordinality as q (token_hash, agent_id, position)
     cross join lateral (
      with token as (
        select r.org_id, r.agent_id, null::uuid as project_id, r.key_id, r.trust_rule_id, r.expires_at, r.id as run_id,
               r.ancestors || r.id as chain
          from runs r
         where r.token_hash = q.token_hash and r.end_reason is null and r.expires_at > now()
           and not exists (select from runs p where p.id = any(r.ancestors) and p.ended_at is not null)
        union all
        select k.org_id, k.agent_id, case when k.scope = 'project' then k.project_id end, k.id, null, k.expires_at, null, '{}'
          from api_keys k
         where k.token_hash = q.token_hash and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
        union all
        select t.org_id, t.agent_id, null, null, t.id, x.expires_at, null, '{}'
          from trust_rule_keys x join trust_rules t on t.id = x.rule_id
         where x.token_hash = q.token_hash and x.expires_at > now() and t.deleted_at is null
      )
      select t.key_id as "keyId", t.trust_rule_id as "trustRuleId", t.expires_at as "expiresAt", t.run_id as "runId",
             jsonb_build_object('id', a.id, 'name', a.name, 'projectId', a.project_id, 'status', a.status,
                                'policy', a.policy) as agent,
             (select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'policy', c.policy, 'expiresAt', c.expires_at)
                                        order by cardinality(c.ancestors) desc), '[]')
                from runs c where c.id = any(t.chain)) as chain
        from token t
        join agents a on a.org_id = t.org_id and a.org_id = ${orgId} and a.id = q.agent_id
         and a.id = coalesce(t.agent_id, a.id) and a.project_id = coalesce(t.project_id, a.project_id)
       limit 1) found`;

/** Counts running runs up to `max`. */
export async function countRunning(tx: Tx, orgId: string, max: number): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*) as count from (select from runs where org_id = ${orgId} and ended_at is null limit ${max}) r`;
  return row!.count;
}

/** Throws {@link Conflict} when the organization is being deleted. */
export async function insertRuns(tx: Tx, orgId: string, runs: readonly NewRun[]): Promise<void> {
  const rows = runs.map(({ tokenHash, ...run }) => ({ ...run, tokenHash: `\\x${tokenHash.toString('hex')}` }));
  const inserted = await tx`
    insert into runs (id, org_id, agent_id, key_id, trust_rule_id, root_id, ancestors, label, budget_cents, policy, token_hash, key_prefix,
                      created_at, created_by, expires_at)
    select r.id, o.id, r."agentId", r."keyId", r."trustRuleId", r."rootId", r.ancestors, r.label, r."budgetCents", r.policy,
           r."tokenHash", r."keyPrefix", r."createdAt", r."createdBy", r."expiresAt"
      from organizations o
     cross join jsonb_to_recordset(${tx.json(rows as unknown as JSONValue)}::jsonb) as r (
           id uuid, "agentId" uuid, "keyId" uuid, "trustRuleId" uuid, "rootId" uuid, ancestors uuid[], label text,
           "budgetCents" bigint, policy jsonb, "tokenHash" bytea, "keyPrefix" text, "createdAt" timestamptz, "createdBy" uuid,
           "expiresAt" timestamptz)
     where o.id = ${orgId} and o.purge_at is null for key share of o`;
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

/** A run that was running. */
interface EndedRun {
  readonly id: string;
  readonly ancestors: readonly string[];
}

/** Ends runs and their sub-runs. Returns those that were running, and the runs with these ids as they are then. */
export async function endRuns(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
): Promise<{ readonly ended: readonly EndedRun[]; readonly runs: ReadonlyMap<string, RunRow> }> {
  // Expired runs below an ended one may be left to `claimExpiredRuns`. `end_reason` and `offset` keep the planner from a scan
  // of all open runs, which is as cheap as a lookup while few are open.
  const tree = tx`
    with recursive tree (id) as (
      select id from runs where org_id = ${orgId} and id = any(${[...ids]}::uuid[]) and end_reason is null
      union
      select c.id from tree cross join lateral (
        select id from runs where ancestors[1] = tree.id and ancestors <> '{}' and ended_at is null offset 0) c)`;
  // One round trip. The first waits for sub-runs that are being started, which the others would not see. Runs are locked
  // from the top down, so that two ends within a tree do not wait for each other.
  const [, , ended, runs] = await Promise.all([
    tx`
      select from runs where org_id = ${orgId} and id = any(${[...ids]}::uuid[])
       order by cardinality(ancestors), id for no key update`,
    tx`${tree} select from runs where id in (select id from tree) order by cardinality(ancestors), id for no key update`,
    tx<EndedRun[]>`
      ${tree} update runs set ended_at = now(), end_reason = 'ended'
       where id in (select id from tree) and end_reason is null and expires_at > now() returning id, ancestors`,
    loadRuns(tx, orgId, ids),
  ]);
  return { ended, runs: new Map(runs.map((run) => [run.id, run])) };
}

const EXPIRED_PER_TICK = 2_000;

export interface ExpiredRun {
  readonly id: string;
  readonly orgId: string;
  readonly ancestors: readonly string[];
}

/** Marks runs whose time has passed; each is returned once. */
export async function claimExpiredRuns(tx: Tx): Promise<readonly ExpiredRun[]> {
  return tx<ExpiredRun[]>`
    update runs set ended_at = expires_at, end_reason = 'expired'
     where id in (select id from runs where ended_at is null and expires_at <= now()
                   order by expires_at limit ${EXPIRED_PER_TICK} for update skip locked)
    returning id, org_id as "orgId", ancestors`;
}
