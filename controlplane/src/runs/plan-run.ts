/** Decides, without I/O, whether a run may start below its parent, and what it is then. */
import type { Secret } from '@acg/base/secret';
import { uuidv7 } from '@acg/base/uuidv7';
import { type AgentPolicy, validatePolicy } from '../agents/call-and-model-policy-schema.js';
import { combinePolicies, findWidening } from '../agents/narrow-policy.js';
import { createGatewayToken } from '../api-keys/create-gateway-token.js';
import { Forbidden, InvalidInput } from '../domain/errors.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { usdFromNanos } from '../reports/query/money-and-forecast.js';
import { toCents } from './ending/append-runs-ended.js';
import { type AgentRunInput, RUN_DEPTH_MAX, type Run } from './schema.js';
import type * as store from './store.js';

const PATTERNS_MAX = 20;

/** What a new run is part of. */
export interface Parent {
  readonly agent: store.StartingAgent;
  readonly keyId: string | null;
  readonly trustRuleId: string | null;
  /** The end that the run must not exceed, and whose it is; null: none. */
  readonly end: { readonly at: Date; readonly of: string } | null;
  /** The parent first, the root last. */
  readonly chain: readonly { readonly id: string; readonly policy: AgentPolicy | null }[];
}

export interface RunPlan {
  readonly run: store.NewRun;
  /** The run as it is when it starts. */
  readonly row: store.RunRow;
  /** Its gateway token. */
  readonly secretKey: Secret;
}

/** Throws an error that says which rule forbids the run. */
export function planRun(
  orgId: string,
  { agent, keyId, trustRuleId, end, chain }: Parent,
  input: AgentRunInput & { readonly expiresIn?: number },
  createdBy: string | null,
  catalogue: Pick<Catalogue, 'get'>,
): RunPlan {
  if (agent.status !== 'active') throw new Forbidden(`the agent is ${agent.status}: it can start no run`);
  if (chain.length >= RUN_DEPTH_MAX)
    throw new InvalidInput(`runs have at most ${RUN_DEPTH_MAX} levels: this would be level ${chain.length + 1}`);
  const createdAt = new Date();
  const expiresAt = endOf(input.expiresIn, end, createdAt);
  const policy = input.policy ?? null;
  validatePolicy(policy, catalogue);
  assertFewPatterns(policy);
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
    keyId,
    trustRuleId,
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
  const unused = { state: 'running', spentNanos: 0, calls: 0, subRuns: 0, endedAt: null } as const;
  return { run, row: { ...run, ...unused, agentName: agent.name, projectId: agent.projectId }, secretKey };
}

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

export const presentRun = ({ ancestors, spentNanos, calls, ...row }: store.RunRow): Run => ({
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
  spentUsd: usdFromNanos(BigInt(spentNanos)),
  calls,
  subRuns: row.subRuns,
  policy: row.policy,
  keyPrefix: row.keyPrefix,
  createdAt: row.createdAt.toISOString(),
  expiresAt: row.expiresAt.toISOString(),
  endedAt: row.endedAt?.toISOString() ?? null,
});
