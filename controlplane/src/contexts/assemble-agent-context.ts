/**
 * Builds the context of one agent in its wire format from database rows. Pure, except for the functions of the vault
 * that it gets.
 */
import type { IAgentContext, IUpstream } from '@acg/proto/messages';
import { effectiveOnStoreLoss } from '../agents/budget-mode-and-store-loss-fields.js';
import { type AgentPolicy, encodeCallPolicy } from '../agents/call-and-model-policy-schema.js';
import { combinePolicies } from '../agents/narrow-policy.js';
import {
  type EffectiveLimits,
  effectiveLimits,
  encodeAgentLimits,
  encodeScopeBudgets,
} from '../limits/agent-limit-fields.js';
import { mergeMinted } from '../minting/exchange.js';
import { type AccountUpstreams, buildUpstreams } from '../providers/build-upstream.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import type { Credentials } from '../providers/catalogue/credential-template.js';
import type { Provider } from '../providers/catalogue/provider.js';
import { toProvider } from '../providers/custom/custom-provider.js';
import type { AccountRow, AgentRow, ContextBudgetRow, KeyRow, MintedRow } from './agent-context-store.js';

interface OpenAccount {
  /** Returns the credentials of an account, or null when they cannot be decrypted. */
  readonly credentials: (account: AccountRow) => Credentials | null;
  /** Returns the minted fields; null: nothing is minted, or it cannot be decrypted. */
  readonly minted: (account: AccountRow) => Credentials | null;
}

export function assembleAgentContext(
  key: KeyRow,
  agent: AgentRow,
  catalogue: Catalogue,
  open: OpenAccount,
  /** Derives a key from the master key. */
  deriveKey: (purpose: string) => string,
): IAgentContext {
  const policy = key.runs.reduceRight((outer, run) => combinePolicies(outer, run.policy), agent.policy);
  const accounts = agent.accounts
    .map((account) => buildAccountUpstreams(key.orgId, policy, account, catalogue, open))
    .filter((upstreams) => upstreams !== null);
  const upstreams = accounts.map(({ upstream }) => upstream);
  const namedOrigins = accounts.flatMap((account) => account.namedOrigins);
  const assigned = new Set(upstreams.map((upstream) => upstream.providerSlug));
  return {
    keyId: key.id,
    keyScope: key.scope,
    orgId: key.orgId,
    projectId: agent.projectId,
    agentId: agent.id,
    agentName: agent.name,
    agentSlug: agent.slug,
    agentStatus: agent.status,
    limits: [...encodeAgentLimits(agent), ...encodeScopeBudgets(agent)],
    scopes: agent.scopes.map((spend) => ({ ...spend, month: agent.spendMonth })),
    ...legacyLimits(effectiveLimits(agent)),
    spendMonth: agent.spendMonth,
    spendNanos: Number(agent.spendNanos),
    ledgerNanos: agent.ledgerNanos,
    hardBudget: agent.budgetMode === 'hard',
    holdMaxOutputTokens: agent.holdMaxOutputTokens,
    refuseUnchecked:
      effectiveOnStoreLoss(agent, key.runs.length > 0 || agent.budgets.some(({ mode }) => mode === 'hard')) ===
      'refuse',
    ...encodeBudgets(agent, key.runs),
    ...(agent.cellSpend.length === 0 ? {} : { cellSpend: agent.cellSpend.map((spend) => ({ ...spend })) }),
    ...(key.expiresAtMs === null ? {} : { keyExpiresAtMs: key.expiresAtMs }),
    ...(key.runs.length === 0 ? {} : { runId: key.runs[0]!.id, runAncestors: key.runs.slice(1).map(({ id }) => id) }),
    mcpSessionKey: deriveKey(`mcp session ${agent.id}`),
    upstreams,
    ...(namedOrigins.length === 0 ? {} : { namedOrigins }),
    unassignedProviders: agent.customSlugs.filter((slug) => !assigned.has(slug)),
  };
}

const PLAIN_LIMIT_OF_SCOPE = { agent: 'budget', project: 'project_budget', org: 'org_budget' } as const;

const isPlainMonthly = ({ window, models, tag }: ContextBudgetRow): boolean =>
  window === 'month' && models.length === 0 && tag === '';

/**
 * The plain monthly rows stay in `limits`: of these, only a hard one of a project or an organization is also a row,
 * because their older budgets are hard for agents with a hard budget only.
 */
function encodeBudgets(agent: AgentRow, runs: KeyRow['runs']): Pick<IAgentContext, 'budgets' | 'auditedLimits'> {
  const centsOfScope = {
    agent: agent.budgetCentsMonthly,
    project: agent.projectBudgetCents,
    org: agent.orgBudgetCents,
  } as const;
  const auditedLimits = [...agent.auditLimits];
  const budgets = agent.budgets.flatMap((row) => {
    const { spend, models, ...fields } = row;
    const sent = { ...fields, models: [...models], spend: spend.map((one) => ({ ...one })) };
    if (!isPlainMonthly(row)) return [sent];
    const cents = centsOfScope[row.scope];
    if (cents === null) return [];
    if (row.mode === 'audit') auditedLimits.push(PLAIN_LIMIT_OF_SCOPE[row.scope]);
    return row.mode === 'hard' ? [{ ...sent, cents }] : [];
  });
  const all = [...runs.map(encodeRun), ...budgets];
  return { ...(all.length === 0 ? {} : { budgets: all }), ...(auditedLimits.length === 0 ? {} : { auditedLimits }) };
}

/** The same limits for data planes that do not read `limits` yet. To be removed with the next release. */
const legacyLimits = ({ rpmLimit, rpdLimit, budgetCentsMonthly }: EffectiveLimits) => ({
  rpmLimit,
  rpdLimit,
  ...(budgetCentsMonthly === null ? {} : { budgetCents: budgetCentsMonthly }),
});

/** A run and each of its ancestors is a hard budget without a calendar window. */
const encodeRun = ({ id, budgetCents, spentNanos, ledgerNanos, expiresAtMs }: KeyRow['runs'][number]) => ({
  id,
  scope: 'run',
  scopeId: id,
  window: 'total',
  cents: budgetCents,
  mode: 'hard',
  spend: [{ window: 'total', spentNanos, ledgerNanos }],
  endsAtMs: expiresAtMs,
});

/** Null: the account's provider no longer exists. */
function buildAccountUpstreams(
  orgId: string,
  agentPolicy: AgentPolicy | null,
  account: AccountRow,
  catalogue: Catalogue,
  open: OpenAccount,
): AccountUpstreams | null {
  const provider = findProvider(account, catalogue);
  if (provider === null) return null;
  const credentials = account.status === 'active' ? open.credentials(account) : null;
  const isMinted = credentials !== null && provider.method(credentials) !== null;
  const upstreams = isMinted
    ? buildMintedUpstreams(provider, orgId, account, credentials, open)
    : buildUpstreams(provider, orgId, account.id, credentials, account);
  const policy = encodeCallPolicy(agentPolicy, account.providerSlug);
  const common = { ...(policy === undefined ? {} : { policy }), ...encodeVersion(account) };
  for (const upstream of [upstreams.upstream, ...upstreams.namedOrigins]) Object.assign(upstream, common);
  return upstreams;
}

/** Which version of which credential it is, for rotations. */
const encodeVersion = ({ credentialId, credentialVersion, compromisedBefore }: AccountRow): Partial<IUpstream> => ({
  ...(credentialId === null ? {} : { sharedCredentialId: credentialId }),
  ...(credentialVersion === null ? {} : { credentialVersion }),
  ...(compromisedBefore === null ? {} : { compromisedBefore }),
});

/** The data plane must not use the credential beyond its remaining life, which it counts from its request on. */
function buildMintedUpstreams(
  provider: Provider,
  orgId: string,
  account: AccountRow,
  credentials: Credentials,
  open: OpenAccount,
): AccountUpstreams {
  const { minted } = account;
  const isValid =
    minted !== null && minted.ciphertext !== null && (minted.remainingMs === null || minted.remainingMs > 0);
  const fields = isValid ? open.minted(account) : null;
  const upstreams = buildUpstreams(
    provider,
    orgId,
    account.id,
    fields === null ? credentials : mergeMinted(credentials, fields),
    account,
    fields !== null,
  );
  const life: Partial<IUpstream> =
    fields === null
      ? { accountStatus: 'needs_credentials', ...(minted?.retryMs === -1 ? {} : refreshing(minted)) }
      : { credentialLifeMs: minted!.remainingMs ?? 0, credentialGeneration: minted!.generation };
  for (const upstream of [upstreams.upstream, ...upstreams.namedOrigins]) Object.assign(upstream, life);
  return upstreams;
}

/** The data plane may request the credential again after that time; 0: at once. */
const refreshing = (minted: MintedRow | null) => ({
  credentialRefreshing: true,
  credentialRetryMs: Math.max(0, minted?.retryMs ?? 0),
});

/** An account of a deleted custom provider never becomes one of a built-in provider of the same slug. */
function findProvider(account: AccountRow, catalogue: Catalogue): Provider | null {
  if (account.customProviderId === null) return catalogue.get(account.providerSlug);
  return account.custom === null ? null : toProvider(account.custom, catalogue.presetCalls);
}
