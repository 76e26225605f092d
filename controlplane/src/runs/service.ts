/**
 * Runs: tasks with a hard budget and an end, started by the management API or by an agent's gateway token
 * (docs/contract.md#runs). A run has a gateway token of its own. Its calls spend from the run and all of its ancestors.
 */
import { uuidv7 } from '@acg/base/uuidv7';
import { LRUCache } from 'lru-cache';
import { type AgentPolicy, validatePolicy } from '../agents/call-and-model-policy-schema.js';
import { combinePolicies, findWidening } from '../agents/narrow-policy.js';
import type { AgentService } from '../agents/service.js';
import { createGatewayToken } from '../api-keys/create-gateway-token.js';
import { recordAudit } from '../audit/audit-trail.js';
import type { JSONValue, Sql, Tx } from '../db/postgres-client.js';
import { Conflict, Forbidden, InvalidInput, NotFound, Unauthenticated } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import type { Actor } from '../http/route-access.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { publishInvalidations } from '../watch/publish-invalidations.js';
import { endRunTree } from './end-run-tree.js';
import { appendRunEnded, toCents } from './ending/append-run-ended.js';
import { RunAllowance } from './run-allowance.js';
import {
  type AgentRunInput,
  RUN_DEPTH_MAX,
  type Run,
  type RunInput,
  type RunQuery,
  type RunStarted,
} from './schema.js';
import * as store from './store.js';

const RUNNING_MAX = 50_000;
const RECOUNT_MS = 1_000;
const PATTERNS_MAX = 20;

/** A caller with a gateway token. */
export interface AgentCaller {
  /** SHA-256 of the token, 32 bytes. */
  readonly tokenHash: Uint8Array;
  /** The organization and the agent that the data plane found for the token. */
  readonly orgId: string;
  readonly agentId: string;
}

/** What a new run is part of. */
interface Parent {
  readonly orgId: string;
  readonly agent: store.StartingAgent;
  readonly keyId: string | null;
  readonly trustRuleId: string | null;
  /** The end that the run must not exceed, and whose it is; null: none. */
  readonly end: { readonly at: Date; readonly of: string } | null;
  /** The parent first, the root last. */
  readonly chain: readonly { readonly id: string; readonly policy: AgentPolicy | null }[];
}

export class RunService {
  readonly #allowance = new RunAllowance();
  readonly #running = new LRUCache<string, { count: number; readonly atMs: number }>({ max: 10_000 });

  constructor(
    readonly sql: Sql,
    readonly agents: AgentService,
    readonly catalogue: Pick<Catalogue, 'get'>,
  ) {}

  async list(
    actor: Actor,
    { limit: _limit, offset: _offset, ...filter }: RunQuery,
    page: Page,
  ): Promise<ListResult<Run>> {
    const { rows, total } = await store.listRuns(this.sql, actor.orgId, filter, page);
    return { rows: rows.map(present), total };
  }

  async get(actor: Pick<Actor, 'orgId'>, id: string): Promise<Run> {
    const row = await store.loadRun(this.sql, actor.orgId, id);
    if (row === null) throw new NotFound('run');
    return present(row);
  }

  /** Starts a top run. */
  async start(actor: Actor, { agentId, ...input }: RunInput): Promise<RunStarted> {
    this.#allowance.take(actor.orgId, bytesOf(input), performance.now());
    return this.sql.begin(async (tx) => {
      const agent = await store.lockStartingAgent(tx, actor.orgId, agentId);
      if (agent === null) throw new NotFound('agent');
      const parent: Parent = { orgId: actor.orgId, agent, keyId: null, trustRuleId: null, end: null, chain: [] };
      const started = await this.#insert(tx, parent, input, actor.userId);
      await this.#recordStart(tx, actor, started.run);
      return started;
    });
  }

  /** Starts a sub-run of the caller's run, or a top run where the caller's token is a key. */
  async startByAgent(caller: AgentCaller, input: AgentRunInput): Promise<RunStarted> {
    this.#allowance.take(caller.orgId, bytesOf(input), performance.now());
    return this.sql.begin(async (tx) => {
      const { starter, chain } = (await store.lockStarter(tx, caller)) ?? throwUnknownToken();
      const end =
        chain.length > 0
          ? { at: chain[0]!.expiresAt, of: 'the parent run' }
          : starter.expiresAt && { at: starter.expiresAt, of: 'the gateway token' };
      const started = await this.#insert(tx, { ...starter, end, chain }, input, null);
      if (chain.length === 0) {
        const actor = { email: '', orgId: starter.orgId, ip: '', userId: null };
        await this.#recordStart(tx, actor, started.run);
      }
      return started;
    });
  }

  /** Ends a run and its sub-runs. A run that has ended stays as it is. */
  async end(actor: Actor, id: string): Promise<Run> {
    return this.sql.begin(async (tx) => {
      const run = await store.loadRun(tx, actor.orgId, id);
      if (run === null) throw new NotFound('run');
      const ended = await endRunTree(tx, actor.orgId, run);
      const subRuns = ended.filter((endedId) => endedId !== id).length;
      if (subRuns > 0 || run.state === 'running')
        await recordAudit(
          tx,
          actor,
          'run.end',
          { type: 'run', id },
          { label: [run.label, null], subRuns: [subRuns, 0] },
        );
      return presentEnded(tx, actor.orgId, id, ended);
    });
  }

  /** The caller's own run, or one below it; a key sees all runs of its agent. */
  async getByAgent(caller: AgentCaller, id: string): Promise<Run> {
    this.#allowance.take(caller.orgId, 0, performance.now());
    return this.sql.begin(async (tx) => {
      const starter = (await store.findStarter(tx, caller)) ?? throwUnknownToken();
      return present(await findOfStarter(tx, starter, id));
    });
  }

  async endByAgent(caller: AgentCaller, id: string): Promise<Run> {
    this.#allowance.take(caller.orgId, 0, performance.now());
    return this.sql.begin(async (tx) => {
      const starter = (await store.findStarter(tx, caller)) ?? throwUnknownToken();
      const ended = await endRunTree(tx, starter.orgId, await findOfStarter(tx, starter, id));
      return presentEnded(tx, starter.orgId, id, ended);
    });
  }

  /** Marks runs whose time has passed. Data planes end their calls by themselves. */
  async expireDue(): Promise<void> {
    await this.sql.begin(async (tx) => {
      for (const { id, orgId, isTop } of await store.claimExpiredRuns(tx)) {
        if (isTop) await appendRunEnded(tx, orgId, (await store.loadRun(tx, orgId, id))!);
      }
    });
  }

  async deleteOld(): Promise<void> {
    while ((await this.sql.begin((tx) => store.deleteOldRuns(tx))) >= store.DELETED_PER_TICK);
  }

  async #insert(
    tx: Tx,
    parent: Parent,
    input: AgentRunInput & { readonly expiresIn?: number },
    createdBy: string | null,
  ): Promise<RunStarted> {
    const { agent, chain, end, orgId } = parent;
    if (agent.status !== 'active') throw new Forbidden(`the agent is ${agent.status}: it can start no run`);
    if (chain.length >= RUN_DEPTH_MAX)
      throw new InvalidInput(`runs have at most ${RUN_DEPTH_MAX} levels: this would be level ${chain.length + 1}`);
    const createdAt = new Date();
    const expiresAt = endOf(input.expiresIn, end, createdAt);
    const policy = input.policy ?? null;
    validatePolicy(policy, this.catalogue);
    assertFewPatterns(policy);
    await this.#assertRoom(tx, orgId);
    const above = chain.reduceRight((outer, link) => combinePolicies(outer, link.policy), agent.policy);
    const widening = findWidening(above, policy);
    if (widening !== null) throw new Forbidden(`${widening}. The policy of a run only narrows.`);
    const { secretKey, keyPrefix, tokenHash } = createGatewayToken();
    const id = uuidv7(createdAt.getTime());
    const ancestors = chain.map((link) => link.id);
    const run: store.NewRun = {
      id,
      orgId,
      agentId: agent.id,
      keyId: parent.keyId,
      trustRuleId: parent.trustRuleId,
      rootId: ancestors.at(-1) ?? id,
      ancestors,
      label: input.label ?? '',
      budgetCents: input.budgetCents,
      policy,
      tokenHash,
      keyPrefix,
      createdAt,
      createdBy,
      expiresAt,
    };
    const [, [tightest]] = await Promise.all([
      store.insertRun(tx, run),
      store.listRemainingBudgets(tx, agent.id, ancestors),
    ]);
    const boundBy = tightest !== undefined && tightest.remainingCents < input.budgetCents ? tightest : null;
    const unused = { state: 'running', spentNanos: 0, calls: 0, subRuns: 0, endedAt: null } as const;
    const row: store.RunRow = { ...run, ...unused, agentName: agent.name, projectId: agent.projectId };
    return { run: present(row), secretKey: secretKey.reveal(), boundBy };
  }

  /** Counts in the database once a second, and adds what this process has started since. */
  async #assertRoom(tx: Tx, orgId: string): Promise<void> {
    const nowMs = performance.now();
    let running = this.#running.get(orgId);
    if (running === undefined || nowMs - running.atMs > RECOUNT_MS) {
      running = { count: await store.countRunning(tx, orgId, RUNNING_MAX), atMs: nowMs };
      this.#running.set(orgId, running);
    }
    if (running.count++ >= RUNNING_MAX)
      throw new Conflict(`an organization has at most ${RUNNING_MAX} running runs: end some first`);
  }

  async #recordStart(tx: Tx, actor: Parameters<typeof recordAudit>[1], run: Run): Promise<void> {
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
}

/** Tells data planes which runs ended with a run, and presents that. */
async function presentEnded(tx: Tx, orgId: string, id: string, ended: readonly string[]): Promise<Run> {
  const run = present((await store.loadRun(tx, orgId, id))!);
  if (ended.length > 0) await publishInvalidations(tx, [{ kind: 'key', id, endsSessions: true }]);
  return run;
}

/** The data plane knew the token a moment ago. */
function throwUnknownToken(): never {
  throw new Unauthenticated('the gateway token is unknown, expired or revoked');
}

/** The caller's own run, or one below it; a key finds all runs of its agent. */
async function findOfStarter(tx: Tx, starter: store.Starter, id: string): Promise<store.RunRow> {
  const run = await store.loadRun(tx, starter.orgId, id);
  if (run === null || run.agentId !== starter.agent.id) throw new NotFound('run');
  const { runId } = starter;
  if (runId !== null && run.id !== runId && !run.ancestors.includes(runId)) throw new NotFound('run');
  return run;
}

const bytesOf = (input: AgentRunInput): number => Buffer.byteLength(JSON.stringify(input));

/** Every context of a run combines the policies of all levels. */
function assertFewPatterns(policy: AgentPolicy | null): void {
  let patterns = 0;
  for (const { calls, toolLimits, ...names } of Object.values(policy ?? {})) {
    patterns += (calls?.length ?? 0) + (toolLimits?.length ?? 0);
    for (const rule of Object.values(names)) patterns += (rule.allow?.length ?? 0) + (rule.deny?.length ?? 0);
  }
  if (patterns > PATTERNS_MAX)
    throw new InvalidInput(`policy of a run must have at most ${PATTERNS_MAX} patterns (got ${patterns})`);
}

/** Throws {@link InvalidInput} for an end after that of the parent or the gateway token. */
function endOf(expiresInS: number | undefined, end: Parent['end'], now: Date): Date {
  if (expiresInS === undefined) {
    if (end === null) throw new InvalidInput('expiresIn is required for a top run: the seconds until it ends');
    return end.at;
  }
  const at = new Date(now.getTime() + expiresInS * 1_000);
  if (end !== null && at > end.at)
    throw new InvalidInput(`expiresIn goes beyond the end of ${end.of}: ${end.at.toISOString()}`);
  return at;
}

const present = ({ ancestors, spentNanos, calls, ...row }: store.RunRow): Run => ({
  id: row.id,
  agentId: row.agentId,
  agentName: row.agentName,
  projectId: row.projectId,
  parentId: ancestors[0] ?? null,
  rootId: row.rootId,
  depth: ancestors.length + 1,
  label: row.label,
  state: row.state,
  budgetCents: row.budgetCents,
  spentCents: toCents(spentNanos),
  calls,
  subRuns: row.subRuns,
  policy: row.policy,
  keyPrefix: row.keyPrefix,
  createdAt: row.createdAt.toISOString(),
  expiresAt: row.expiresAt.toISOString(),
  endedAt: row.endedAt?.toISOString() ?? null,
});
