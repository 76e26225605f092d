/** The policy of an agent as its form holds it. Fields that the form does not show are kept. */
import type { Agent } from '../../resources/agent-account-and-key-hooks.js';

type AgentPolicy = NonNullable<Agent['policy']>;
/** The rules for one provider. A missing field allows everything, an empty list nothing. */
export type ProviderRules = AgentPolicy[string];

interface PolicyForm {
  /** Off: the agent may make every call. */
  readonly isRestricted: boolean;
  readonly providers: AgentPolicy;
}

/** An agent without a policy begins with the providers that it has, each without rules. */
export const toPolicyForm = (policy: Agent['policy'], assignedSlugs: readonly string[]): PolicyForm => ({
  isRestricted: policy !== null,
  providers: policy ?? Object.fromEntries(assignedSlugs.map((slug) => [slug, {}])),
});

export const toPolicy = ({ isRestricted, providers }: PolicyForm): AgentPolicy | null =>
  isRestricted ? providers : null;

/** Null removes the list. */
export function withCalls({ calls: _calls, ...others }: ProviderRules, calls: string[] | null): ProviderRules {
  return calls === null ? others : { ...others, calls };
}

/** Null removes the list; rules for models without a list are removed, too. */
export function withModels(
  { models, ...others }: ProviderRules,
  list: 'allow' | 'deny',
  names: string[] | null,
): ProviderRules {
  const { [list]: _replaced, ...rest } = models ?? {};
  const next = names === null ? rest : { ...rest, [list]: names };
  return Object.keys(next).length === 0 ? others : { ...others, models: next };
}
