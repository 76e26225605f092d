/**
 * Calls that hand out credentials or change who has access: refused, unless an admin allowed them for the account. Each
 * provider's list comes with the upstream; how the path, the query and the headers of a call are written does not matter.
 */

import type { SensitiveCall } from '../context/agent-context.js';
import { type CallPattern, matchesCall, matchesWildcard, parseCallPattern } from './call-pattern.js';
import { normalizeLeniently, splitPathLeniently } from './path-segments.js';

interface SensitiveRule {
  readonly pattern: CallPattern;
  readonly query: readonly (readonly string[])[];
  readonly headers: readonly (readonly string[])[];
  readonly harmlessValues: ReadonlySet<string>;
}

/** Verdicts on paths that are asked about again and again. */
const VERDICTS_MAX = 256;
const VERDICT_CHARS_MAX = 128;

export class SensitiveCalls {
  readonly #pathRules: SensitiveRule[] = [];
  /** Rules that look at more than method and path. */
  readonly #parameterRules: SensitiveRule[] = [];
  readonly #verdicts = new Map<string, boolean>();

  constructor(calls: readonly SensitiveCall[]) {
    for (const call of calls) {
      const pattern = parseCallPattern(call.call, splitPathLeniently);
      if (pattern === null) throw new Error('a sensitive call that is no pattern');
      const rule: SensitiveRule = {
        pattern,
        query: call.query.map((name) => name.toLowerCase().split('*')),
        headers: call.headers.map((name) => name.toLowerCase().split('*')),
        harmlessValues: new Set(call.harmlessValues),
      };
      (rule.query.length + rule.headers.length === 0 ? this.#pathRules : this.#parameterRules).push(rule);
    }
  }

  /** `rest`: the provider's own path; `headers` flat, lower-case names. `basePath` stands before it upstream. */
  matches(method: string, basePath: string, rest: string, query: string | null, headers: readonly string[]): boolean {
    if (this.#pathRules.length > 0 && this.#matchesPathRules(method, basePath, rest)) return true;
    return this.#parameterRules.length > 0 && this.#matchesParameterRules(method, rest, query, headers);
  }

  #matchesPathRules(method: string, basePath: string, rest: string): boolean {
    const key = `${method} ${rest}`;
    const known = this.#verdicts.get(key);
    if (known !== undefined) return known;
    let verdict = matchesAny(this.#pathRules, method, splitPathLeniently(rest));
    // An address that ends in a part of the path would hide it.
    if (!verdict && basePath !== '') verdict = matchesAny(this.#pathRules, method, splitPathLeniently(basePath + rest));
    if (key.length <= VERDICT_CHARS_MAX) {
      if (this.#verdicts.size >= VERDICTS_MAX) this.#verdicts.clear();
      this.#verdicts.set(Buffer.from(key).toString(), verdict); // not a slice of the request
    }
    return verdict;
  }

  #matchesParameterRules(method: string, rest: string, query: string | null, headers: readonly string[]): boolean {
    const segments = splitPathLeniently(rest);
    const params = query === null ? [] : query.split(/[&;]/);
    for (const rule of this.#parameterRules) {
      if (!matchesCall(rule.pattern, method, segments)) continue;
      if (params.some((param) => matchesAnyName(rule.query, normalizeLeniently(paramName(param))))) return true;
      if (rule.headers.length === 0) continue;
      for (const param of params) {
        if (
          matchesAnyName(rule.headers, normalizeLeniently(paramName(param))) &&
          !rule.harmlessValues.has(normalizeLeniently(paramValue(param)))
        )
          return true;
      }
      for (let i = 0; i < headers.length; i += 2) {
        if (!matchesAnyName(rule.headers, headers[i]!)) continue;
        if (!rule.harmlessValues.has(headers[i + 1]!.trim())) return true;
      }
    }
    return false;
  }
}

const matchesAny = (rules: readonly SensitiveRule[], method: string, segments: readonly string[]): boolean =>
  rules.some((rule) => matchesCall(rule.pattern, method, segments));

const matchesAnyName = (names: readonly (readonly string[])[], name: string): boolean =>
  names.some((pieces) => matchesWildcard(pieces, name));

const paramName = (param: string): string => {
  const equals = param.indexOf('=');
  return equals === -1 ? param : param.slice(0, equals);
};
const paramValue = (param: string): string => {
  const equals = param.indexOf('=');
  return equals === -1 ? '' : param.slice(equals + 1);
};
