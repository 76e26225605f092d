/**
 * Answers whether a call of an agent would pass its account, the sensitive calls of the provider and its policy, with
 * the rules that data planes apply. Limits, budgets and circuit breakers change with every call and are not checked.
 */
import type { CallRuleSource } from '@acg/base/policy/call-rule-source';
import { CallRules, isInPath } from '@acg/base/policy/call-rules';
import { parseModelFromPath } from '@acg/base/policy/parse-model-from-path';
import { callPolicyOf, validatePolicy } from '../agents/call-and-model-policy-schema.js';
import type { AgentService } from '../agents/service.js';
import { InvalidInput, NotFound } from '../domain/errors.js';
import type { Actor } from '../http/route-access.js';
import { buildUpstreams } from '../providers/build-upstream.js';
import type { Provider } from '../providers/catalogue/provider.js';
import type { CallCheckInput, CallCheckReply } from './schema.js';
import type { ProviderAccountService } from './service.js';

/** Reasons as in `base/src/rejection-reasons.ts`. */
type Reason = CallCheckReply['reason'];

const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i;

export class CallCheck {
  constructor(
    readonly agents: AgentService,
    readonly accounts: ProviderAccountService,
  ) {}

  /** Throws {@link InvalidInput} for a call whose model decides and that names none. */
  async check(actor: Actor, agentId: string, input: CallCheckInput): Promise<CallCheckReply> {
    const reason = await this.#findReason(actor, agentId, input);
    return { allowed: reason === null, reason };
  }

  async #findReason(actor: Actor, agentId: string, input: CallCheckInput): Promise<Reason> {
    const { providerSlug, policy } = input;
    const agent = await this.agents.get(actor, agentId);
    if (policy !== undefined) validatePolicy(policy, this.accounts.catalogue);
    if (agent.status !== 'active') return agent.status;
    const filter = { agentId, providerSlug, projectId: null, status: null, credentialId: null };
    const { rows } = await this.accounts.list(actor, filter, { limit: 1, offset: 0 });
    const provider = await this.#findProvider(actor.orgId, providerSlug);
    if (provider === null) return 'unknown_provider';
    const account = rows[0];
    if (account === undefined) return 'not_assigned';
    if (account.status !== 'active') return 'needs_credentials';
    const { upstream } = buildUpstreams(provider, actor.orgId, account.id, null, account);
    const listed = upstream.sensitiveCalls ?? [];
    return findBrokenRule(input, {
      isCustom: !provider.isBuiltIn,
      basePath: upstream.basePath ?? '',
      sensitiveCalls: listed.filter(({ opaque }) => opaque !== true).map(withAllFields),
      opaqueCalls: listed.filter(({ opaque }) => opaque === true).map(withAllFields),
      policy: callPolicyOf(policy === undefined ? agent.policy : policy, providerSlug),
      modelCalls: (upstream.modelCalls ?? []).map(({ call, at }) => ({ call: call ?? '', at: at ?? '' })),
    });
  }

  /** Null: no provider has this slug. */
  async #findProvider(orgId: string, slug: string): Promise<Provider | null> {
    const { accounts } = this;
    const found = await accounts.sql
      .begin((tx) => accounts.lockProvider(tx, orgId, slug))
      .catch((error: unknown) => {
        if (error instanceof NotFound) return null;
        throw error;
      });
    return found?.provider ?? null;
  }
}

/** The order is that of the data plane (`call/stages/check-call-policy.ts`). */
function findBrokenRule({ call, model }: CallCheckInput, source: CallRuleSource): Reason {
  const [method, target] = call.split(' ') as [string, string];
  const [path, query = null] = target.split(/\?(.*)/s, 2) as [string, string?];
  const rules = new CallRules(source);
  if (rules.isSensitive(method, path, query, [])) return 'sensitive_path';
  if (rules.isOpaque(method, path, query, [])) return 'opaque';
  if (!rules.allows(method, path, !DOT_SEGMENT.test(path), query, [])) return 'denied_call';
  if (rules.models === null) return null;
  const location = rules.locateModel(method, path);
  if (location === 'free') return null;
  if (location === 'unknown' || location === 'answer') return 'denied_call';
  const named = isInPath(location) ? parseModelFromPath(path, location) : (model ?? '');
  if (named === null) return 'denied_call';
  if (named === '') throw new InvalidInput('model is required: the policy limits the models of this call');
  return rules.models.allows(named) ? null : 'denied_model';
}

const withAllFields = (entry: {
  readonly call?: string | null;
  readonly query?: readonly string[] | null;
  readonly headers?: readonly string[] | null;
  readonly harmlessValues?: readonly string[] | null;
}) => ({
  call: entry.call ?? '',
  query: entry.query ?? [],
  headers: entry.headers ?? [],
  harmlessValues: entry.harmlessValues ?? [],
});
