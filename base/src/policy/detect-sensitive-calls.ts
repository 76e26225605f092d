/**
 * Detects calls that return credentials or change access rights. They are rejected unless an admin allowed them for the
 * account, like calls whose path does not say what they do. Each provider's list comes with the upstream. Matches any
 * spelling of path, query and headers, and an encoded slash as a separator and as a part of a segment.
 */

import { type CallPattern, matchesCall, matchesWildcard, parseCallPattern } from './call-pattern.js';
import type { SensitiveCall } from './call-rule-source.js';
import { normalizeLeniently, splitPathInEachReading, splitPathLeniently } from './split-path-strictly-or-leniently.js';

interface SensitiveRule {
  readonly pattern: CallPattern;
  readonly query: readonly (readonly string[])[];
  readonly headers: readonly (readonly string[])[];
  readonly harmlessValues: ReadonlySet<string>;
}

/** Maximum of cached verdicts, one per method and path. */
const VERDICTS_MAX = 256;
const VERDICT_CHARS_MAX = 128;

export class SensitiveCallDetector {
  readonly #pathRules: SensitiveRule[] = [];
  /** Rules that also match query or headers. */
  readonly #parameterRules: SensitiveRule[] = [];
  readonly #verdicts = new Map<string, boolean>();

  constructor(calls: readonly SensitiveCall[]) {
    for (const call of calls) {
      const pattern = parseCallPattern(call.call, splitPathLeniently);
      if (pattern === null) throw new Error('invalid sensitive-call pattern in a provider file');
      const rule: SensitiveRule = {
        pattern,
        query: call.query.map((name) => name.toLowerCase().split('*')),
        headers: call.headers.map((name) => name.toLowerCase().split('*')),
        harmlessValues: new Set(call.harmlessValues),
      };
      (rule.query.length + rule.headers.length === 0 ? this.#pathRules : this.#parameterRules).push(rule);
    }
  }

  /**
   * Whether a rule matches. `providerPath`: the provider's own path; `basePath`: precedes it upstream. `headers`: flat,
   * lower-case names.
   */
  matches(
    method: string,
    basePath: string,
    providerPath: string,
    query: string | null,
    headers: readonly string[],
  ): boolean {
    if (this.#pathRules.length > 0 && this.#matchesPathRules(method, basePath, providerPath)) return true;
    return (
      this.#parameterRules.length > 0 && this.#matchesParameterRules(method, basePath, providerPath, query, headers)
    );
  }

  #matchesPathRules(method: string, basePath: string, providerPath: string): boolean {
    const key = basePath === '' ? `${method} ${providerPath}` : `${method} ${basePath} ${providerPath}`;
    const known = this.#verdicts.get(key);
    if (known !== undefined) return known;
    const readings = listReadings(basePath, providerPath);
    const verdict = this.#pathRules.some((rule) => matchesInAnyReading(rule, method, readings));
    if (key.length <= VERDICT_CHARS_MAX) {
      if (this.#verdicts.size >= VERDICTS_MAX) this.#verdicts.clear();
      this.#verdicts.set(Buffer.from(key).toString(), verdict); // a copy, not a slice of the request
    }
    return verdict;
  }

  #matchesParameterRules(
    method: string,
    basePath: string,
    providerPath: string,
    query: string | null,
    headers: readonly string[],
  ): boolean {
    const readings = listReadings(basePath, providerPath);
    const params = query === null ? [] : query.split(/[&;]/);
    for (const rule of this.#parameterRules) {
      if (!matchesInAnyReading(rule, method, readings)) continue;
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

type Readings = readonly (readonly string[])[];

/** Of the provider's path, and of both paths together: the base path may contain the beginning of a rule's path. */
const listReadings = (basePath: string, providerPath: string): Readings =>
  basePath === ''
    ? splitPathInEachReading(providerPath)
    : [...splitPathInEachReading(providerPath), ...splitPathInEachReading(basePath + providerPath)];

const matchesInAnyReading = ({ pattern }: SensitiveRule, method: string, readings: Readings): boolean =>
  readings.some((segments) => matchesCall(pattern, method, segments));

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
