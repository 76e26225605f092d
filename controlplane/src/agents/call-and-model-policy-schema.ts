/** The policy of an agent: which calls, models and MCP tools it may use, per provider. Data planes enforce it. */

import type { CallPolicy, McpNameRules, ModelPatterns as NamePatternRule } from '@acg/base/policy/call-rule-source';
import { foldMcpName } from '@acg/base/policy/fold-mcp-name';
import type { ICallPolicy, IModelRule } from '@acg/proto/messages';
import { type Static, Type } from 'typebox';
import { InvalidInput } from '../domain/errors.js';
import { CallPatterns, PATTERN_CHARS_MAX, PATTERNS_MAX } from '../providers/catalogue/call-pattern-schema.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';

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

const TOOL_LIMITS_MAX = 50;
const ToolLimits = Type.Array(
  Type.Object(
    {
      tool: Type.String({
        minLength: 1,
        maxLength: PATTERN_CHARS_MAX,
        description: 'Name of a tool, case-insensitive; * matches any number of characters.',
      }),
      rpm: Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Requests in any 60 seconds.' }),
    },
    strict,
  ),
  {
    maxItems: TOOL_LIMITS_MAX,
    description:
      'Limits for tools of an MCP server, beside those of the agent. The first entry that matches counts; all tools that match share it.',
  },
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
    toolLimits: Type.Optional(ToolLimits),
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

const MCP_FIELDS = ['tools', 'resources', 'prompts'] as const;
const ALL_MCP_FIELDS = [...MCP_FIELDS, 'toolLimits'] as const;

/** The rules must fit the built-in providers that they name. Throws {@link InvalidInput}. */
export function validatePolicy(policy: AgentPolicy | null, builtIn: Pick<Catalogue, 'get'>): void {
  if (policy === null) return;
  let patterns = 0;
  for (const [slug, rules] of Object.entries(policy)) {
    const { calls, models } = rules;
    const provider = builtIn.get(slug);
    patterns += calls?.length ?? 0;
    for (const rule of [models, ...MCP_FIELDS.map((field) => rules[field])])
      patterns += (rule?.allow?.length ?? 0) + (rule?.deny?.length ?? 0);
    if (models !== undefined && provider?.modelCalls.length === 0)
      throw new InvalidInput(`policy.${slug}.models: this provider has no models: leave the field out`);
    const field = ALL_MCP_FIELDS.find((one) => rules[one] !== undefined);
    if (field !== undefined && provider !== null && provider.mainUsageFormat !== 'mcp')
      throw new InvalidInput(`policy.${slug}.${field}: this provider is no MCP server: leave the field out`);
    const limited = (rules.toolLimits ?? []).map(({ tool }) => foldMcpName(tool));
    if (new Set(limited).size < limited.length)
      throw new InvalidInput(`policy.${slug}.toolLimits: two entries have the same tool: keep one of them`);
    patterns += limited.length;
  }
  if (patterns > PATTERNS_MAX)
    throw new InvalidInput(`policy must have at most ${PATTERNS_MAX} patterns (got ${patterns})`);
}

/** The policy for one provider; null: all calls are allowed. */
export function callPolicyOf(policy: AgentPolicy | null, slug: string): CallPolicy | null {
  if (policy === null) return null;
  const providerPolicy = Object.hasOwn(policy, slug) ? policy[slug]! : null;
  if (providerPolicy === null) return { closed: true, calls: null, models: null };
  const { calls = null, models, tools, resources, prompts, toolLimits = [] } = providerPolicy;
  const mcp: McpNameRules = { tools: ruleOf(tools), resources: ruleOf(resources), prompts: ruleOf(prompts) };
  const limitsMcp = MCP_FIELDS.some((field) => mcp[field] !== null);
  return {
    closed: false,
    calls,
    models: ruleOf(models),
    ...(limitsMcp ? { mcp } : {}),
    ...(toolLimits.length > 0 ? { toolLimits } : {}),
  };
}

/** Encodes the policy for one provider; undefined: all calls are allowed. */
export function encodeCallPolicy(policy: AgentPolicy | null, slug: string): ICallPolicy | undefined {
  const ofProvider = callPolicyOf(policy, slug);
  if (ofProvider === null) return undefined;
  const { closed, calls, models, mcp, toolLimits = [] } = ofProvider;
  if (closed) return { closed };
  const encoded: ICallPolicy = calls === null ? {} : { calls: { patterns: [...calls] } };
  for (const [field, rule] of Object.entries({ models, ...mcp }))
    if (rule !== null) encoded[field as 'models' | keyof McpNameRules] = encodeRule(rule);
  if (toolLimits.length > 0) encoded.toolLimits = [...toolLimits];
  return encoded;
}

const ruleOf = (rule: { allow?: string[]; deny?: string[] } | undefined): NamePatternRule | null =>
  rule === undefined ? null : { allow: rule.allow ?? null, deny: rule.deny ?? [] };

const encodeRule = ({ allow, deny }: NamePatternRule): IModelRule => ({
  ...(allow === null ? {} : { allow: { patterns: [...allow] } }),
  deny: [...deny],
});
