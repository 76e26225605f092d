/** All rules that hold for one agent's calls to one provider, compiled once per context. */
import type { CallPolicy, Upstream } from '../context/agent-context.js';
import { type CallPattern, matchesCall, parseCallPattern } from './call-pattern.js';
import { hasMethodOverride } from './method-override.js';
import { ModelRule } from './model-rule.js';
import { splitPathStrictly } from './path-segments.js';
import { SensitiveCalls } from './sensitive-calls.js';

/**
 * Where a call's model is to be looked for; `answer`: nowhere, and an answer states what it costs, if it costs anything;
 * `unknown`: the provider's file does not say, or says that no answer states what it costs.
 */
export type ModelLocation =
  | 'json'
  | 'form'
  | 'json_or_form'
  | 'batch'
  | 'free'
  | 'answer'
  | 'unknown'
  | `path:${string}`;

interface ModelCallPattern {
  readonly pattern: CallPattern;
  readonly at: ModelLocation;
}

/** They name no model and use none. */
const MODEL_FREE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

export class CallRules {
  /** Null: every model is allowed, and no body needs to be read. */
  readonly models: ModelRule | null;
  readonly #sensitive: SensitiveCalls | null;
  readonly #policy: CallPolicy | null;
  readonly #calls: readonly CallPattern[] | null;
  readonly #modelCalls: readonly ModelCallPattern[];
  readonly #listsUnreportedCosts: boolean;
  readonly #basePath: string;

  constructor({ sensitiveCalls, policy, modelCalls, basePath }: Upstream) {
    const models = policy?.models ?? null;
    this.#sensitive = sensitiveCalls.length === 0 ? null : new SensitiveCalls(sensitiveCalls);
    this.#policy = policy;
    this.#calls = policy === null || policy.calls === null ? null : policy.calls.map(compilePattern);
    this.models = models === null || modelCalls.length === 0 ? null : new ModelRule(models);
    this.#modelCalls = modelCalls.map(({ call, at }) => ({ pattern: compilePattern(call), at: at as ModelLocation }));
    this.#listsUnreportedCosts = this.#modelCalls.some(({ at }) => at === 'unknown');
    this.#basePath = basePath;
  }

  /** Whether the call hands out credentials or changes who has access, or may turn out to be one that does. */
  isSensitive(method: string, providerPath: string, query: string | null, headers: readonly string[]): boolean {
    const calls = this.#sensitive;
    if (calls === null) return false;
    return hasMethodOverride(query, headers) || calls.matches(method, this.#basePath, providerPath, query, headers);
  }

  /** Whether the policy allows the call, whatever its model. `plainPath`: without dot segments. */
  allows(method: string, rest: string, plainPath: boolean, query: string | null, headers: readonly string[]): boolean {
    const policy = this.#policy;
    if (policy === null) return true;
    if (policy.closed) return false;
    if (this.#calls === null && this.models === null) return true;
    if (hasMethodOverride(query, headers)) return false;
    const calls = this.#calls;
    if (calls === null) return true;
    if (!plainPath) return false;
    const segments = splitPathStrictly(rest);
    for (let i = 0; i < calls.length; i++) if (matchesCall(calls[i]!, method, segments)) return true;
    return false;
  }

  /**
   * Whether no answer states what the call costs. Of a custom provider only those that its format's vendor has; of a
   * built-in one also what its file does not name. A control plane that sends no such list is of an older version.
   */
  hasUnreportedCost(method: string, providerPath: string, custom: boolean): boolean {
    if (!this.#listsUnreportedCosts || MODEL_FREE_METHODS.has(method)) return false;
    const at = this.#findListedLocation(method, providerPath);
    return at === 'unknown' || (at === undefined && !custom);
  }

  locateModel(method: string, providerPath: string): ModelLocation {
    if (MODEL_FREE_METHODS.has(method)) return 'free';
    return this.#findListedLocation(method, providerPath) ?? 'unknown';
  }

  #findListedLocation(method: string, rest: string): ModelLocation | undefined {
    const segments = splitPathStrictly(rest);
    return this.#modelCalls.find(({ pattern }) => matchesCall(pattern, method, segments))?.at;
  }
}

const rulesByUpstream = new WeakMap<Upstream, CallRules | null>();

/** Null: everything is allowed. */
export function getCallRules(upstream: Upstream): CallRules | null {
  let rules = rulesByUpstream.get(upstream);
  if (rules === undefined) {
    rules = upstream.policy === null && upstream.sensitiveCalls.length === 0 ? null : new CallRules(upstream);
    rulesByUpstream.set(upstream, rules);
  }
  return rules;
}

const modelRulesByUpstream = new WeakMap<Upstream, CallRules>();

/** Where a call's model is, also where no policy asks for it. A custom provider of a known format says nothing of paths. */
export function locateCallModel(upstream: Upstream, method: string, providerPath: string): ModelLocation {
  const place = getModelRules(upstream).locateModel(method, providerPath);
  return place === 'unknown' && upstream.modelCalls.length === 0 ? 'json_or_form' : place;
}

/** See {@link CallRules.hasUnreportedCost}. */
export function costsUnseen(upstream: Upstream, method: string, rest: string): boolean {
  return getModelRules(upstream).hasUnreportedCost(method, rest, upstream.isCustom);
}

function getModelRules(upstream: Upstream): CallRules {
  let rules = rulesByUpstream.get(upstream) ?? modelRulesByUpstream.get(upstream);
  if (rules === undefined || rules === null) {
    rules = new CallRules(upstream);
    modelRulesByUpstream.set(upstream, rules);
  }
  return rules;
}

/** A pattern that cannot be read would silently allow nothing, or deny nothing. */
function compilePattern(call: string): CallPattern {
  const pattern = parseCallPattern(call, splitPathStrictly);
  if (pattern === null) throw new Error('a call that is no pattern');
  return pattern;
}
