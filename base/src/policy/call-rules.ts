/**
 * All rules for one agent's calls to one provider, compiled once per agent context. Contexts share the compiled lists of
 * a built-in provider.
 */

import { type CallPattern, matchesCall, matchesWildcard, parseCallPattern } from './call-pattern.js';
import type { CallPolicy, CallRuleSource, SensitiveCall } from './call-rule-source.js';
import { hasMethodOverride } from './detect-method-override.js';
import { SensitiveCallDetector } from './detect-sensitive-calls.js';
import { ModelRule } from './model-rule.js';
import { hasEncodedSlash, splitPathStrictly } from './split-path-strictly-or-leniently.js';

/**
 * Where a call names its model. `free`: the method uses no model. `answer`: nowhere; the response states the cost, if
 * there is one. `unknown`: the provider file does not list the call, or no response states its cost.
 */
export type ModelLocation =
  | 'json'
  | 'form'
  | 'json_or_form'
  | 'batch'
  | 'free'
  | 'answer'
  | 'unknown'
  | `path:${string}`
  | `path_before_colon:${string}`;

/** Whether the path names the model; see parse-model-from-path.ts. */
export const isInPath = (place: ModelLocation): place is `path${string}` & ModelLocation => place.startsWith('path');

interface ModelCallPattern {
  readonly pattern: CallPattern;
  readonly at: ModelLocation;
}

/** Methods that use no model. */
const MODEL_FREE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

export class CallRules {
  /** Null: every model is allowed, so no body needs to be read. */
  readonly models: ModelRule | null;
  readonly #sensitive: SensitiveCallDetector | null;
  readonly #opaque: SensitiveCallDetector | null;
  readonly #policy: CallPolicy | null;
  readonly #calls: readonly CallPattern[] | null;
  readonly #modelCalls: CompiledModelCalls;
  readonly #basePath: string;

  constructor({ sensitiveCalls, opaqueCalls, policy, modelCalls, basePath }: CallRuleSource) {
    const models = policy?.models ?? null;
    this.#sensitive = detectorOf(sensitiveCalls);
    this.#opaque = detectorOf(opaqueCalls);
    this.#policy = policy;
    this.#calls = policy === null || policy.calls === null ? null : policy.calls.map(compilePattern);
    this.models = models === null || modelCalls.length === 0 ? null : new ModelRule(models);
    this.#modelCalls = compiledModelCallsOf(modelCalls);
    this.#basePath = basePath;
  }

  /** Whether the call returns credentials or changes access rights, or may do so through a method override. */
  isSensitive(method: string, providerPath: string, query: string | null, headers: readonly string[]): boolean {
    return this.#matches(this.#sensitive, method, providerPath, query, headers);
  }

  /** Whether the path does not say what the call does, or may not through an override. */
  isOpaque(method: string, providerPath: string, query: string | null, headers: readonly string[]): boolean {
    return this.#matches(this.#opaque, method, providerPath, query, headers);
  }

  #matches(
    calls: SensitiveCallDetector | null,
    method: string,
    providerPath: string,
    query: string | null,
    headers: readonly string[],
  ): boolean {
    if (calls === null) return false;
    return hasMethodOverride(query, headers) || calls.matches(method, this.#basePath, providerPath, query, headers);
  }

  /** Whether the policy allows the call, with any model. `plainPath`: the path has no dot segments. */
  allows(
    method: string,
    providerPath: string,
    isPlainPath: boolean,
    query: string | null,
    headers: readonly string[],
  ): boolean {
    const policy = this.#policy;
    if (policy === null) return true;
    if (policy.closed) return false;
    if (this.#calls === null && this.models === null) return true;
    if (hasMethodOverride(query, headers)) return false;
    const calls = this.#calls;
    if (calls === null) return true;
    if (!isPlainPath) return false;
    const segments = splitPathStrictly(providerPath);
    const matchesSegment = segments.some(hasEncodedSlash) ? matchesUnambiguously : matchesWildcard;
    for (let i = 0; i < calls.length; i++) if (matchesCall(calls[i]!, method, segments, matchesSegment)) return true;
    return false;
  }

  /**
   * Whether no response states what the call costs. For a custom provider: only calls that the format's vendor lists.
   * For a built-in provider: also calls that its file does not list, and calls of models without a usage format. An
   * older control plane sends no such list; then false.
   */
  hasUnreportedCost(method: string, providerPath: string, custom: boolean, isMetered: boolean): boolean {
    if (!this.#modelCalls.listsUnreportedCosts || MODEL_FREE_METHODS.has(method)) return false;
    const at = this.#findListedLocation(method, providerPath);
    return at === 'unknown' || (!custom && (at === undefined || (!isMetered && at !== 'free')));
  }

  locateModel(method: string, providerPath: string): ModelLocation {
    if (MODEL_FREE_METHODS.has(method)) return 'free';
    return this.#findListedLocation(method, providerPath) ?? 'unknown';
  }

  #findListedLocation(method: string, rest: string): ModelLocation | undefined {
    const segments = splitPathStrictly(rest);
    return this.#modelCalls.patterns.find(({ pattern }) => matchesCall(pattern, method, segments))?.at;
  }
}

/**
 * A server may read an encoded slash as a separator, and then a `*` would allow calls that the pattern does not show. So
 * only `**` and a segment pattern that itself names the encoded slash (`*%2F*`) match it.
 */
export const matchesUnambiguously: typeof matchesWildcard = (pieces, segment) =>
  matchesWildcard(pieces, segment) && (!hasEncodedSlash(segment) || pieces.some(hasEncodedSlash));

const detectors = new WeakMap<readonly SensitiveCall[], SensitiveCallDetector>();

/** Null: there are no such calls. */
function detectorOf(calls: readonly SensitiveCall[]): SensitiveCallDetector | null {
  if (calls.length === 0) return null;
  let detector = detectors.get(calls);
  if (detector === undefined) {
    detector = new SensitiveCallDetector(calls);
    detectors.set(calls, detector);
  }
  return detector;
}

interface CompiledModelCalls {
  readonly patterns: readonly ModelCallPattern[];
  readonly listsUnreportedCosts: boolean;
}

const compiledModelCalls = new WeakMap<CallRuleSource['modelCalls'], CompiledModelCalls>();

function compiledModelCallsOf(modelCalls: CallRuleSource['modelCalls']): CompiledModelCalls {
  let compiled = compiledModelCalls.get(modelCalls);
  if (compiled === undefined) {
    const patterns = modelCalls.map(({ call, at }) => ({ pattern: compilePattern(call), at: at as ModelLocation }));
    compiled = { patterns, listsUnreportedCosts: patterns.some(({ at }) => at === 'unknown') };
    compiledModelCalls.set(modelCalls, compiled);
  }
  return compiled;
}

const rulesByUpstream = new WeakMap<CallRuleSource, CallRules | null>();

/** The compiled rules of an upstream; null when everything is allowed. */
export function getCallRules(upstream: CallRuleSource): CallRules | null {
  let rules = rulesByUpstream.get(upstream);
  if (rules === undefined) {
    const { policy, sensitiveCalls, opaqueCalls } = upstream;
    const hasNone = policy === null && sensitiveCalls.length === 0 && opaqueCalls.length === 0;
    rules = hasNone ? null : new CallRules(upstream);
    rulesByUpstream.set(upstream, rules);
  }
  return rules;
}

const modelRulesByUpstream = new WeakMap<CallRuleSource, CallRules>();

/**
 * Where the call names its model, also without a policy. A custom provider of a known format lists no paths; its models
 * are in the body.
 */
export function locateCallModel(upstream: CallRuleSource, method: string, providerPath: string): ModelLocation {
  const location = getModelRules(upstream).locateModel(method, providerPath);
  return location === 'unknown' && upstream.modelCalls.length === 0 ? 'json_or_form' : location;
}

/**
 * Whether no response states what the call costs; see {@link CallRules.hasUnreportedCost}. `isMetered`: the usage format
 * of the call reports tokens.
 */
export function hasUnreportedCost(
  upstream: CallRuleSource,
  method: string,
  providerPath: string,
  isMetered: boolean,
): boolean {
  return getModelRules(upstream).hasUnreportedCost(method, providerPath, upstream.isCustom, isMetered);
}

function getModelRules(upstream: CallRuleSource): CallRules {
  let rules = rulesByUpstream.get(upstream) ?? modelRulesByUpstream.get(upstream);
  if (rules === undefined || rules === null) {
    rules = new CallRules(upstream);
    modelRulesByUpstream.set(upstream, rules);
  }
  return rules;
}

/** Throws for an invalid pattern, which would otherwise silently match nothing. */
function compilePattern(call: string): CallPattern {
  const pattern = parseCallPattern(call, splitPathStrictly);
  if (pattern === null) throw new Error('invalid call pattern in a policy or provider file');
  return pattern;
}
