/**
 * Runs: tasks with a hard budget and an end, started by the management API or by an agent's gateway token
 * (docs/contract.md#runs). A run has a gateway token of its own. Its calls spend from the run and all of its ancestors.
 * Requests of agents are handled in batches, because an orchestrator starts and ends a sub-run for each task.
 */
import { LRUCache } from 'lru-cache';
import { recordAudit } from '../audit/audit-trail.js';
import type { JSONValue, Sql, Tx } from '../db/postgres-client.js';
import { AppError, Conflict, NotFound, Unauthenticated } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import type { Actor } from '../http/route-access.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { publishInvalidations } from '../watch/publish-invalidations.js';
import { DELETED_PER_TICK, deleteOldRuns } from './delete-old-runs.js';
import { endRunTrees } from './end-run-trees.js';
import { appendRunsEnded, loadEndedRuns } from './ending/append-runs-ended.js';
import { listRuns } from './list-store.js';
import { OrganizationBatches } from './organization-batches.js';
import { type Parent, planRun, presentRun, type RunPlan } from './plan-run.js';
import { RunAllowance } from './run-allowance.js';
import type { AgentRunInput, Run, RunInput, RunQuery, RunStarted } from './schema.js';
import * as store from './store.js';

const RUNNING_MAX = 50_000;
const RECOUNT_MS = 1_000;

/** A caller with a gateway token. */
export interface AgentCaller {
  /** SHA-256 of the token, 32 bytes. */
  readonly tokenHash: Uint8Array;
  /** The organization and the agent that the data plane found for the token. */
  readonly orgId: string;
  readonly agentId: string;
}

interface StartRequest {
  readonly caller: AgentCaller;
  readonly input: AgentRunInput;
}

interface EndRequest {
  readonly caller: AgentCaller;
  readonly id: string;
}

export class RunService {
  readonly #allowance = new RunAllowance();
  readonly #running = new LRUCache<string, { count: number; readonly atMs: number }>({ max: 10_000 });
  readonly #starts = new OrganizationBatches<StartRequest, RunStarted>((orgId, requests) =>
    this.#startAll(orgId, requests),
  );
  readonly #ends = new OrganizationBatches<EndRequest, Run>((orgId, requests) => this.#endAll(orgId, requests));

  constructor(
    readonly sql: Sql,
    readonly catalogue: Pick<Catalogue, 'get'>,
  ) {}

  async list(
    actor: Actor,
    { limit: _limit, offset: _offset, ...filter }: RunQuery,
    page: Page,
  ): Promise<ListResult<Run>> {
    const { rows, total } = await listRuns(this.sql, actor.orgId, filter, page);
    return { rows: rows.map(presentRun), total };
  }

  async get(actor: Pick<Actor, 'orgId'>, id: string): Promise<Run> {
    const row = await store.loadRun(this.sql, actor.orgId, id);
    if (row === null) throw new NotFound('run');
    return presentRun(row);
  }

  /** Starts a top run. */
  async start(actor: Actor, { agentId, ...input }: RunInput): Promise<RunStarted> {
    this.#allowance.take(actor.orgId, bytesOf(input), performance.now());
    return this.sql.begin(async (tx) => {
      const agent = await store.lockStartingAgent(tx, actor.orgId, agentId);
      if (agent === null) throw new NotFound('agent');
      const parent: Parent = { agent, keyId: null, trustRuleId: null, end: null, chain: [] };
      const plan = planRun(actor.orgId, parent, input, actor.userId, this.catalogue);
      (await this.#countRunning(tx, actor.orgId))();
      const [started] = await insertPlanned(tx, actor.orgId, [plan]);
      await recordStart(tx, actor, started!.run);
      return started!;
    });
  }

  /** Ends a run and its sub-runs. A run that has ended stays as it is. */
  async end(actor: Actor, id: string): Promise<Run> {
    return this.sql.begin(async (tx) => {
      const { ended, runs } = await endRunTrees(tx, actor.orgId, [id]);
      const run = runs.get(id);
      if (run === undefined) throw new NotFound('run');
      if (ended.length > 0) {
        const subRuns = ended.filter((one) => one.id !== id).length;
        const changes = { label: [run.label, null], subRuns: [subRuns, 0] } as const;
        await recordAudit(tx, actor, 'run.end', { type: 'run', id }, changes);
        await publishEnded(tx, [id]);
      }
      return presentRun(run);
    });
  }

  /** Starts a sub-run of the caller's run, or a top run where the caller's token is a key. */
  async startByAgent(caller: AgentCaller, input: AgentRunInput): Promise<RunStarted> {
    this.#allowance.take(caller.orgId, bytesOf(input), performance.now());
    return this.#starts.add(caller.orgId, { caller, input });
  }

  /** The caller's own run, or one below it; a key sees all runs of its agent. */
  async getByAgent(caller: AgentCaller, id: string): Promise<Run> {
    this.#allowance.take(caller.orgId, 0, performance.now());
    return this.sql.begin(async (tx) => {
      const { starters, runs } = await store.findStartersAndRuns(tx, caller.orgId, [caller], [id]);
      assertSees(starters[0], runs.get(id));
      return presentRun((await store.loadRun(tx, caller.orgId, id))!);
    });
  }

  /** Ends what {@link getByAgent} finds. */
  async endByAgent(caller: AgentCaller, id: string): Promise<Run> {
    this.#allowance.take(caller.orgId, 0, performance.now());
    return this.#ends.add(caller.orgId, { caller, id });
  }

  /**
   * Marks runs whose time has passed. Data planes forget them then; most have ended their calls before, by their own
   * clocks.
   */
  async expireDue(): Promise<void> {
    await this.sql.begin(async (tx) => {
      const expired = await store.claimExpiredRuns(tx);
      const topIds = expired.filter(({ ancestors }) => ancestors.length === 0).map(({ id }) => id);
      await appendRunsEnded(tx, await loadEndedRuns(tx, topIds));
      const ids = new Set(expired.map(({ id }) => id));
      const highest = expired.filter(({ ancestors }) => !ancestors.some((above) => ids.has(above)));
      await publishEnded(
        tx,
        highest.map(({ id }) => id),
      );
    });
  }

  async deleteOld(): Promise<void> {
    while ((await this.sql.begin((tx) => deleteOldRuns(tx))) >= DELETED_PER_TICK);
  }

  async #startAll(orgId: string, requests: readonly StartRequest[]): Promise<readonly (RunStarted | Error)[]> {
    return this.sql.begin(async (tx) => {
      const starters = await store.lockStarters(
        tx,
        orgId,
        requests.map(({ caller }) => caller),
      );
      const assertRoom = await this.#countRunning(tx, orgId);
      const plans = requests.map(({ input }, i) =>
        orError(() => {
          const plan = planRun(orgId, parentOf(starters[i]), input, null, this.catalogue);
          assertRoom();
          return plan;
        }),
      );
      const planned = plans.flatMap((plan) => (plan instanceof Error ? [] : plan));
      const started = [...(await insertPlanned(tx, orgId, planned))];
      for (const { run } of started)
        if (run.parentId === null) await recordStart(tx, { email: '', orgId, ip: '', userId: null }, run);
      return plans.map((plan) => (plan instanceof Error ? plan : started.shift()!));
    });
  }

  async #endAll(orgId: string, requests: readonly EndRequest[]): Promise<readonly (Run | Error)[]> {
    return this.sql.begin(async (tx) => {
      const found = await store.findStartersAndRuns(
        tx,
        orgId,
        requests.map(({ caller }) => caller),
        requests.map(({ id }) => id),
      );
      const allowed = requests.map(({ id }, i) => orError(() => assertSees(found.starters[i], found.runs.get(id))));
      const ids = [...new Set(allowed.flatMap((run) => (run instanceof Error ? [] : run.id)))];
      if (ids.length === 0) return allowed.filter((one) => one instanceof Error);
      const { ended, runs } = await endRunTrees(tx, orgId, ids);
      const changed = new Set(ended.flatMap((run) => [run.id, ...run.ancestors]));
      await publishEnded(
        tx,
        ids.filter((id) => changed.has(id)),
      );
      return allowed.map((run) => (run instanceof Error ? run : presentRun(runs.get(run.id)!)));
    });
  }

  /**
   * Counts in the database once a second, and adds what this process has started since. The result throws
   * {@link Conflict} when there is no room for one more run.
   */
  async #countRunning(tx: Tx, orgId: string): Promise<() => void> {
    const nowMs = performance.now();
    let running = this.#running.get(orgId);
    if (running === undefined || nowMs - running.atMs > RECOUNT_MS) {
      running = { count: await store.countRunning(tx, orgId, RUNNING_MAX), atMs: nowMs };
      this.#running.set(orgId, running);
    }
    const counted = running;
    return () => {
      if (counted.count++ >= RUNNING_MAX)
        throw new Conflict(`an organization has at most ${RUNNING_MAX} running runs: end some first`);
    };
  }
}

async function insertPlanned(tx: Tx, orgId: string, plans: readonly RunPlan[]): Promise<readonly RunStarted[]> {
  if (plans.length === 0) return [];
  /** By the runs above: sub-runs of one run have the same. */
  const budgets = new Map<string, ReturnType<typeof store.listRemainingBudgets>>();
  const inserted = store.insertRuns(
    tx,
    orgId,
    plans.map(({ run }) => run),
  );
  for (const { run } of plans) {
    const key = `${run.agentId} ${run.ancestors.join()}`;
    if (!budgets.has(key)) budgets.set(key, store.listRemainingBudgets(tx, run.agentId, run.ancestors));
  }
  await Promise.all([inserted, ...budgets.values()]);
  const started = plans.map(async ({ run, row, secretKey }) => {
    const [tightest] = await budgets.get(`${run.agentId} ${run.ancestors.join()}`)!;
    const isTighter = tightest !== undefined && tightest.remainingCents < run.budgetCents;
    return { run: presentRun(row), secretKey: secretKey.reveal(), boundBy: isTighter ? tightest : null };
  });
  return Promise.all(started);
}

async function recordStart(tx: Tx, actor: Parameters<typeof recordAudit>[1], run: Run): Promise<void> {
  const { id, agentId, label, budgetCents, expiresAt, policy } = run;
  await recordAudit(
    tx,
    actor,
    'run.start',
    { type: 'run', id },
    {
      agentId: [null, agentId],
      label: [null, label],
      budgetCents: [null, budgetCents],
      expiresAt: [null, expiresAt],
      ...(policy === null ? {} : { policy: [null, policy as JSONValue] as const }),
    },
  );
}

/** Tells data planes that these runs and all below them have ended. */
const publishEnded = (tx: Tx, ids: readonly string[]): Promise<void> =>
  publishInvalidations(
    tx,
    ids.map((id) => ({ kind: 'key', id, endsSessions: true })),
  );

function parentOf(starter: store.Starter | undefined): Parent {
  const { chain, expiresAt, ...parent } = starter ?? throwUnknownToken();
  if (chain.length > 0) return { ...parent, chain, end: { at: chain[0]!.expiresAt, of: 'the parent run' } };
  return { ...parent, chain, end: expiresAt && { at: expiresAt, of: 'the gateway token' } };
}

/** The data plane knew the token a moment ago. */
function throwUnknownToken(): never {
  throw new Unauthenticated('the gateway token is unknown, expired or revoked');
}

/** Throws {@link NotFound} unless the run is the caller's own or one below it; a key sees all runs of its agent. */
function assertSees(starter: store.Starter | undefined, run: store.RunOwner | undefined): store.RunOwner {
  const { agent, runId } = starter ?? throwUnknownToken();
  if (run === undefined || run.agentId !== agent.id) throw new NotFound('run');
  if (runId !== null && run.id !== runId && !run.ancestors.includes(runId)) throw new NotFound('run');
  return run;
}

/** Returns an {@link AppError}, which concerns one request of a batch, instead of throwing it. */
function orError<T>(decide: () => T): T | AppError {
  try {
    return decide();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

const bytesOf = (input: AgentRunInput): number => Buffer.byteLength(JSON.stringify(input));
