/** All rules that hold for one agent's calls to one provider, compiled once per context. */
import type { CallPolicy, Upstream } from '../context/agent-context.js';
import { strictSegments } from './call-path.js';
import { type CallPattern, matchesCall, parseCallPattern } from './call-pattern.js';
import { ModelRule } from './model-rule.js';
import { overridesCall } from './overrides.js';
import { SensitiveCalls } from './sensitive.js';

/**
 * Where a call's model is to be looked for; `answer`: nowhere, and an answer states what it costs, if it costs anything;
 * `unknown`: the provider's file does not say, or says that no answer states what it costs.
 */
export type ModelPlace = 'json' | 'form' | 'json_or_form' | 'batch' | 'free' | 'answer' | 'unknown' | `path:${string}`;

interface ModelCallPattern {
  readonly pattern: CallPattern;
  readonly at: ModelPlace;
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
  readonly #listsUnseen: boolean;
  readonly #basePath: string;

  constructor({ sensitiveCalls, policy, modelCalls, basePath }: Upstream) {
    const models = policy?.models ?? null;
    this.#sensitive = sensitiveCalls.length === 0 ? null : new SensitiveCalls(sensitiveCalls);
    this.#policy = policy;
    this.#calls = policy === null || policy.calls === null ? null : policy.calls.map(compile);
    this.models = models === null || modelCalls.length === 0 ? null : new ModelRule(models);
    this.#modelCalls = modelCalls.map(({ call, at }) => ({ pattern: compile(call), at: at as ModelPlace }));
    this.#listsUnseen = this.#modelCalls.some(({ at }) => at === 'unknown');
    this.#basePath = basePath;
  }

  /** Whether the call hands out credentials or changes who has access, or may turn out to be one that does. */
  sensitive(method: string, rest: string, query: string | null, headers: readonly string[]): boolean {
    const calls = this.#sensitive;
    if (calls === null) return false;
    return overridesCall(query, headers) || calls.match(method, this.#basePath, rest, query, headers);
  }

  /** Whether the policy allows the call, whatever its model. `plainPath`: without dot segments. */
  allows(method: string, rest: string, plainPath: boolean, query: string | null, headers: readonly string[]): boolean {
    const policy = this.#policy;
    if (policy === null) return true;
    if (policy.closed) return false;
    if (this.#calls === null && this.models === null) return true;
    if (overridesCall(query, headers)) return false;
    const calls = this.#calls;
    if (calls === null) return true;
    if (!plainPath) return false;
    const segments = strictSegments(rest);
    for (let i = 0; i < calls.length; i++) if (matchesCall(calls[i]!, method, segments)) return true;
    return false;
  }

  /**
   * Whether no answer states what the call costs. Of a custom provider only those that its format's vendor has; of a
   * built-in one also what its file does not name. A control plane that sends no such list is of an older version.
   */
  costsUnseen(method: string, rest: string, custom: boolean): boolean {
    if (!this.#listsUnseen || MODEL_FREE_METHODS.has(method)) return false;
    const at = this.#listedPlace(method, rest);
    return at === 'unknown' || (at === undefined && !custom);
  }

  modelPlace(method: string, rest: string): ModelPlace {
    if (MODEL_FREE_METHODS.has(method)) return 'free';
    return this.#listedPlace(method, rest) ?? 'unknown';
  }

  #listedPlace(method: string, rest: string): ModelPlace | undefined {
    const segments = strictSegments(rest);
    return this.#modelCalls.find(({ pattern }) => matchesCall(pattern, method, segments))?.at;
  }
}

const rulesOf = new WeakMap<Upstream, CallRules | null>();

/** Null: everything is allowed. */
export function callRulesOf(upstream: Upstream): CallRules | null {
  let rules = rulesOf.get(upstream);
  if (rules === undefined) {
    rules = upstream.policy === null && upstream.sensitiveCalls.length === 0 ? null : new CallRules(upstream);
    rulesOf.set(upstream, rules);
  }
  return rules;
}

const placeRulesOf = new WeakMap<Upstream, CallRules>();

/** Where a call's model is, also where no policy asks for it. A custom provider of a known format says nothing of paths. */
export function callPlace(upstream: Upstream, method: string, rest: string): ModelPlace {
  const place = placeRules(upstream).modelPlace(method, rest);
  return place === 'unknown' && upstream.modelCalls.length === 0 ? 'json_or_form' : place;
}

/** See {@link CallRules.costsUnseen}. */
export function costsUnseen(upstream: Upstream, method: string, rest: string): boolean {
  return placeRules(upstream).costsUnseen(method, rest, upstream.custom);
}

function placeRules(upstream: Upstream): CallRules {
  let rules = rulesOf.get(upstream) ?? placeRulesOf.get(upstream);
  if (rules === undefined || rules === null) {
    rules = new CallRules(upstream);
    placeRulesOf.set(upstream, rules);
  }
  return rules;
}

/** A pattern that cannot be read would silently allow nothing, or deny nothing. */
function compile(call: string): CallPattern {
  const pattern = parseCallPattern(call, strictSegments);
  if (pattern === null) throw new Error('a call that is no pattern');
  return pattern;
}
