/** The policy of an agent: which calls and models it may use, per provider. Data planes enforce it. */
import type { CallPolicy } from '@acg/base/policy/call-rule-source';
import type { ICallPolicy } from '@acg/proto/messages';
import { type Static, Type } from 'typebox';
import { InvalidInput } from '../domain/errors.js';
import { CallPatterns, PATTERN_CHARS_MAX, PATTERNS_MAX } from '../providers/catalogue/call-pattern-schema.js';

const ModelPatterns = Type.Array(Type.String({ minLength: 1, maxLength: PATTERN_CHARS_MAX }), {
  maxItems: PATTERNS_MAX,
  uniqueItems: true,
  description: 'Model names, case-insensitive; * matches any number of characters.',
});
const strict = { additionalProperties: false } as const;

const ProviderPolicy = Type.Object(
  {
    calls: Type.Optional(CallPatterns),
    models: Type.Optional(
      Type.Object({ allow: Type.Optional(ModelPatterns), deny: Type.Optional(ModelPatterns) }, strict),
    ),
  },
  { ...strict, description: 'Without calls, all calls are allowed. Without models, all models are allowed.' },
);

const policySchema = Type.Record(Type.String({ pattern: '^[a-z0-9-]{1,40}$' }), ProviderPolicy, {
  ...strict,
  maxProperties: PATTERNS_MAX,
});
export type AgentPolicy = Static<typeof policySchema>;

/** By provider slug. Null: all calls are allowed. */
export const AgentPolicyField = Type.Unsafe<AgentPolicy | null>({
  anyOf: [policySchema, { type: 'null' }],
  description: 'By provider slug; a provider that is not listed is not allowed. Null: all calls are allowed.',
});

/** `hasModels`: false for a built-in provider without models; null for a slug that is not built in. */
export function validatePolicy(policy: AgentPolicy | null, hasModels: (slug: string) => boolean | null): void {
  if (policy === null) return;
  let patterns = 0;
  for (const [slug, { calls, models }] of Object.entries(policy)) {
    patterns += (calls?.length ?? 0) + (models?.allow?.length ?? 0) + (models?.deny?.length ?? 0);
    if (models !== undefined && hasModels(slug) === false) {
      throw new InvalidInput(`policy.${slug}.models: this provider has no models: leave the field out`);
    }
  }
  if (patterns > PATTERNS_MAX)
    throw new InvalidInput(`policy must have at most ${PATTERNS_MAX} patterns (got ${patterns})`);
}

/** The policy for one provider; null: all calls are allowed. */
export function callPolicyOf(policy: AgentPolicy | null, slug: string): CallPolicy | null {
  if (policy === null) return null;
  const providerPolicy = Object.hasOwn(policy, slug) ? policy[slug]! : null;
  if (providerPolicy === null) return { closed: true, calls: null, models: null };
  const { calls = null, models } = providerPolicy;
  return {
    closed: false,
    calls,
    models: models === undefined ? null : { allow: models.allow ?? null, deny: models.deny ?? [] },
  };
}

/** Encodes the policy for one provider; undefined: all calls are allowed. */
export function encodeCallPolicy(policy: AgentPolicy | null, slug: string): ICallPolicy | undefined {
  const ofProvider = callPolicyOf(policy, slug);
  if (ofProvider === null) return undefined;
  const { closed, calls, models } = ofProvider;
  if (closed) return { closed };
  return {
    ...(calls === null ? {} : { calls: { patterns: [...calls] } }),
    ...(models === null
      ? {}
      : {
          models: {
            ...(models.allow === null ? {} : { allow: { patterns: [...models.allow] } }),
            deny: [...models.deny],
          },
        }),
  };
}
