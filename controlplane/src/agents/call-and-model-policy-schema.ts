/** The policy of an agent: which calls, models and MCP tools it may use, per provider. Data planes enforce it. */
import type { ICallPolicy, IModelRule } from '@acg/proto/messages';
import { type Static, Type } from 'typebox';
import { InvalidInput } from '../domain/errors.js';
import { CallPatterns, PATTERN_CHARS_MAX, PATTERNS_MAX } from '../providers/catalogue/call-pattern-schema.js';

const ModelPatterns = Type.Array(Type.String({ minLength: 1, maxLength: PATTERN_CHARS_MAX }), {
  maxItems: PATTERNS_MAX,
  uniqueItems: true,
  description: 'Model names, case-insensitive; * matches any number of characters.',
});
const strict = { additionalProperties: false } as const;

const NamePatterns = Type.Array(Type.String({ minLength: 1, maxLength: PATTERN_CHARS_MAX }), {
  maxItems: PATTERNS_MAX,
  uniqueItems: true,
  description: 'Names, or URIs of resources; * matches any number of characters.',
});
const NameRule = (what: string) =>
  Type.Optional(
    Type.Object(
      { allow: Type.Optional(NamePatterns), deny: Type.Optional(NamePatterns) },
      { ...strict, description: `${what} of an MCP server. deny wins. Without allow, all that are not denied.` },
    ),
  );

const ProviderPolicy = Type.Object(
  {
    calls: Type.Optional(CallPatterns),
    models: Type.Optional(
      Type.Object({ allow: Type.Optional(ModelPatterns), deny: Type.Optional(ModelPatterns) }, strict),
    ),
    tools: NameRule('Tools'),
    resources: NameRule('Resources'),
    prompts: NameRule('Prompts'),
  },
  {
    ...strict,
    description: 'A field that is left out allows everything: all calls, models, tools, resources, prompts.',
  },
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

/** What a built-in provider has that a policy can name. */
interface PolicySubjects {
  readonly hasModels: boolean;
  readonly isMcpServer: boolean;
}

const MCP_FIELDS = ['tools', 'resources', 'prompts'] as const;

/** `subjectsOf`: null for a slug that is not built in. */
export function validatePolicy(policy: AgentPolicy | null, subjectsOf: (slug: string) => PolicySubjects | null): void {
  if (policy === null) return;
  let patterns = 0;
  for (const [slug, provider] of Object.entries(policy)) {
    const { calls, models } = provider;
    const subjects = subjectsOf(slug);
    patterns += calls?.length ?? 0;
    for (const rule of [models, ...MCP_FIELDS.map((field) => provider[field])])
      patterns += (rule?.allow?.length ?? 0) + (rule?.deny?.length ?? 0);
    if (models !== undefined && subjects?.hasModels === false)
      throw new InvalidInput(`policy.${slug}.models: this provider has no models: leave the field out`);
    const field = MCP_FIELDS.find((one) => provider[one] !== undefined);
    if (field !== undefined && subjects?.isMcpServer === false)
      throw new InvalidInput(`policy.${slug}.${field}: this provider is no MCP server: leave the field out`);
  }
  if (patterns > PATTERNS_MAX)
    throw new InvalidInput(`policy must have at most ${PATTERNS_MAX} patterns (got ${patterns})`);
}

/** Encodes the policy for one provider; undefined: all calls are allowed. */
export function encodeCallPolicy(policy: AgentPolicy | null, slug: string): ICallPolicy | undefined {
  if (policy === null) return undefined;
  const providerPolicy = Object.hasOwn(policy, slug) ? policy[slug]! : null;
  if (providerPolicy === null) return { closed: true };
  const encoded: ICallPolicy = providerPolicy.calls === undefined ? {} : { calls: { patterns: providerPolicy.calls } };
  for (const field of ['models', ...MCP_FIELDS] as const) {
    const rule = providerPolicy[field];
    if (rule !== undefined) encoded[field] = encodeRule(rule);
  }
  return encoded;
}

const encodeRule = ({ allow, deny }: { allow?: string[]; deny?: string[] }): IModelRule => ({
  ...(allow === undefined ? {} : { allow: { patterns: allow } }),
  deny: deny ?? [],
});
