/**
 * Builds the context of one agent in its wire format from database rows. Pure, except for the decryption function that
 * it gets.
 */
import type { IAgentContext, IUpstream } from '@acg/proto/messages';
import { effectiveOnStoreLoss } from '../agents/budget-mode-and-store-loss-fields.js';
import { encodeCallPolicy } from '../agents/call-and-model-policy-schema.js';
import {
  type EffectiveLimits,
  effectiveLimits,
  encodeAgentLimits,
  encodeScopeBudgets,
} from '../limits/agent-limit-fields.js';
import { type AssignableProvider, buildUpstream } from '../providers/build-upstream.js';
import type { Credentials } from '../providers/catalogue/built-in-provider.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import type { AccountRow, AgentRow, KeyRow } from './agent-context-store.js';

/** Returns the credentials of an account, or null when they cannot be decrypted. */
type DecryptCredentials = (account: AccountRow) => Credentials | null;

export function assembleAgentContext(
  key: KeyRow,
  agent: AgentRow,
  catalogue: Catalogue,
  decrypt: DecryptCredentials,
): IAgentContext {
  const upstreams = agent.accounts
    .map((account) => buildAccountUpstream(key.orgId, agent, account, catalogue, decrypt))
    .filter((upstream) => upstream !== null);
  const assigned = new Set(upstreams.map((upstream) => upstream.providerSlug));
  const knownSlugs = [...catalogue.providers.map((provider) => provider.slug), ...agent.customSlugs];
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
    refuseUnchecked: effectiveOnStoreLoss(agent) === 'refuse',
    ...(key.expiresAtMs === null ? {} : { keyExpiresAtMs: key.expiresAtMs }),
    upstreams,
    unassignedProviders: knownSlugs.filter((slug) => !assigned.has(slug)),
  };
}

/** The same limits for data planes that do not read `limits` yet. To be removed with the next release. */
const legacyLimits = ({ rpmLimit, rpdLimit, budgetCentsMonthly }: EffectiveLimits) => ({
  rpmLimit,
  rpdLimit,
  ...(budgetCentsMonthly === null ? {} : { budgetCents: budgetCentsMonthly }),
});

/** Null: the account's provider no longer exists. */
function buildAccountUpstream(
  orgId: string,
  agent: AgentRow,
  account: AccountRow,
  catalogue: Catalogue,
  decrypt: DecryptCredentials,
): IUpstream | null {
  const assignable = findAssignableProvider(account, catalogue);
  if (assignable === null) return null;
  const upstream = buildUpstream(assignable, orgId, account.id, account.status === 'active' ? decrypt(account) : null);
  if (account.allowSensitivePaths) upstream.sensitiveCalls = [];
  const policy = encodeCallPolicy(agent.policy, account.providerSlug);
  if (policy !== undefined) upstream.policy = policy;
  return upstream;
}

function findAssignableProvider(account: AccountRow, catalogue: Catalogue): AssignableProvider | null {
  if (account.custom !== null) return { kind: 'custom', provider: account.custom };
  const provider = catalogue.get(account.providerSlug);
  return provider === null ? null : { kind: 'built_in', provider };
}
