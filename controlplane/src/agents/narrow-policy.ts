/**
 * Policies of runs only narrow (docs/contract.md#runs): a call must pass the policy of the run, of each ancestor and of
 * the agent. `combinePolicies` computes the policy that the data planes enforce, `findWidening` what a new run's policy
 * would allow beyond its parent's. Containment of patterns is decided on their text: `a` is within `b` when `b` matches
 * `a` with each `*` of `a` read as a character that only a `*` matches. This never accepts a wider pattern.
 */
import { type CallPattern, matchesCall, matchesWildcard, parseCallPattern } from '@acg/base/policy/call-pattern';
import { matchesUnambiguously } from '@acg/base/policy/call-rules';
import { namesPreset } from '@acg/base/policy/model-rule';
import { splitPathStrictly } from '@acg/base/policy/split-path-strictly-or-leniently';
import { LRUCache } from 'lru-cache';
import type { AgentPolicy } from './call-and-model-policy-schema.js';

type ProviderPolicy = AgentPolicy[string];
type NameRule = NonNullable<ProviderPolicy['models']>;

const NAME_FIELDS = ['models', 'tools', 'resources', 'prompts'] as const;
/** Stands for a `*` of the contained pattern. Patterns that hold it contain only themselves. */
const ANY_RUN = '\u0001';
/** What a rule without `allow` allows. Of models these are all but presets. */
const ANY_NAME = ['*'];

interface CompiledCall {
  readonly pattern: CallPattern | null;
  /** Of the path, with its wildcards marked. */
  readonly segments: readonly string[];
}

/** Contexts of runs compare the same patterns again and again. */
const compiledCalls = new LRUCache<string, CompiledCall>({ max: 10_000 });

function compileCall(text: string): CompiledCall {
  let compiled = compiledCalls.get(text);
  if (compiled === undefined) {
    const segments = splitPathStrictly(text.slice(text.indexOf(' ') + 1)).map(markWildcards);
    compiled = { pattern: parseCallPattern(text, splitPathStrictly), segments };
    compiledCalls.set(text, compiled);
  }
  return compiled;
}

/**
 * Whether every call that `inner` matches is matched by `outer`, as far as their texts show it. A `**` of `inner` stands
 * for any number of segments, so the single `**` of `outer` must cover it.
 */
export function isCallPatternWithin(inner: string, outer: string): boolean {
  if (inner === outer) return true;
  const { pattern } = compileCall(outer);
  const { pattern: contained, segments } = compileCall(inner);
  if (pattern === null || contained === null) return false;
  if (pattern.method !== null && pattern.method !== contained.method) return false;
  if (contained.groups.length > 1) {
    const [first, last, ...more] = pattern.groups;
    if (last === undefined || more.length > 0) return false;
    if (contained.groups[0]!.length < first!.length || contained.groups.at(-1)!.length < last.length) return false;
  }
  return matchesCall({ ...pattern, method: null }, '', segments, matchesUnambiguously);
}

const markWildcards = (text: string): string => text.replaceAll('*', ANY_RUN);

type NameField = (typeof NAME_FIELDS)[number];

const foldCase = (text: string): string => text.normalize('NFKC').toLowerCase();
/** Names of models are compared without case, those of MCP servers as they are written. */
const foldOf = (field: NameField): ((text: string) => string) => (field === 'models' ? foldCase : (text) => text);

/** The same for names of models, tools, resources and prompts, whose `*` matches any run of characters. */
export function isNamePatternWithin(inner: string, outer: string, field: NameField): boolean {
  if (inner === outer) return true;
  if (outer.includes(ANY_RUN)) return false;
  if (field === 'models' && namesPreset(inner) && !namesPreset(outer)) return false;
  const fold = foldOf(field);
  return matchesWildcard(fold(outer).split('*'), markWildcards(fold(inner)));
}

/** Patterns of `inner` and `outer` that both sides allow: those within a pattern of the other. */
function intersect(
  inner: readonly string[],
  outer: readonly string[],
  isWithin: (inner: string, outer: string) => boolean,
): string[] {
  const kept = inner.filter((pattern) => outer.some((one) => isWithin(pattern, one)));
  const narrower = outer.filter((pattern) => inner.some((one) => isWithin(pattern, one)));
  return [...new Set([...kept, ...narrower])];
}

/** The policy of calls that both allow; null: every call. `outer` is the agent's or the parent's. */
export function combinePolicies(outer: AgentPolicy | null, inner: AgentPolicy | null): AgentPolicy | null {
  if (outer === null || inner === null) return inner ?? outer;
  const combined: AgentPolicy = {};
  for (const slug of Object.keys(inner)) {
    if (Object.hasOwn(outer, slug)) combined[slug] = combineProviderPolicies(outer[slug]!, inner[slug]!);
  }
  return combined;
}

function combineProviderPolicies(outer: ProviderPolicy, inner: ProviderPolicy): ProviderPolicy {
  const combined: ProviderPolicy = {};
  const calls =
    outer.calls === undefined || inner.calls === undefined
      ? (inner.calls ?? outer.calls)
      : intersect(inner.calls, outer.calls, isCallPatternWithin);
  if (calls !== undefined) combined.calls = calls;
  for (const field of NAME_FIELDS) {
    const rule = combineNameRules(field, outer[field], inner[field]);
    if (rule !== undefined) combined[field] = rule;
  }
  const toolLimits = outer.toolLimits ?? inner.toolLimits;
  if (toolLimits !== undefined) combined.toolLimits = toolLimits;
  return combined;
}

function combineNameRules(
  field: NameField,
  outer: NameRule | undefined,
  inner: NameRule | undefined,
): NameRule | undefined {
  if (outer === undefined || inner === undefined) return inner ?? outer;
  const allow =
    outer.allow === undefined && inner.allow === undefined
      ? undefined
      : intersect(inner.allow ?? ANY_NAME, outer.allow ?? ANY_NAME, (a, b) => isNamePatternWithin(a, b, field));
  const deny = [...new Set([...(outer.deny ?? []), ...(inner.deny ?? [])])];
  return { ...(allow === undefined ? {} : { allow }), ...(deny.length === 0 ? {} : { deny }) };
}

/** The first rule of `inner` that allows more than `outer`, as a text for the caller; null: `inner` only narrows. */
export function findWidening(outer: AgentPolicy | null, inner: AgentPolicy | null): string | null {
  if (outer === null || inner === null) return null;
  for (const [slug, rules] of Object.entries(inner)) {
    if (!Object.hasOwn(outer, slug)) return `policy.${slug}: the parent allows no call to this provider`;
    const parent = outer[slug]!;
    const call = rules.calls?.find(
      (one) => parent.calls?.some((pattern) => isCallPatternWithin(one, pattern)) === false,
    );
    if (call !== undefined) return `policy.${slug}.calls: the parent does not allow all of "${call}"`;
    if (parent.toolLimits !== undefined && rules.toolLimits !== undefined)
      return `policy.${slug}.toolLimits: those of the parent hold: leave the field out`;
    for (const field of NAME_FIELDS) {
      const allow = parent[field] && (parent[field].allow ?? ANY_NAME);
      const name = rules[field]?.allow?.find(
        (one) => allow?.some((pattern) => isNamePatternWithin(one, pattern, field)) === false,
      );
      if (name !== undefined) return `policy.${slug}.${field}.allow: the parent does not allow all of "${name}"`;
    }
  }
  return null;
}
