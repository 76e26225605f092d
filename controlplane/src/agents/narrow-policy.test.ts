import { CallRules } from '@acg/base/policy/call-rules';
import { ModelRule } from '@acg/base/policy/model-rule';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AgentPolicy, callPolicyOf } from './call-and-model-policy-schema.js';
import { combinePolicies, findWidening, isCallPatternWithin, isNamePatternWithin } from './narrow-policy.js';

const segment = fc.constantFrom('a', 'b', 'ab', '*', 'a*', '*b', 'a*b', 'a%2Fb', '*%2F*');
const path = fc.array(fc.oneof(segment, fc.constant('**')), { maxLength: 4 }).map((parts) => `/${parts.join('/')}`);
const method = fc.constantFrom('GET', 'POST', '*');
const callPattern = fc.tuple(method, path).map(([verb, rest]) => `${verb} ${rest}`);
const name = fc
  .array(fc.constantFrom('a', 'b', '*', '@preset/'), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join(''));

const PATHS = [
  '',
  'a',
  'b',
  'ab',
  'aab',
  'a/b',
  'a/a/b',
  'ab/b',
  'a/b/a/b',
  'b/a',
  'a/ab/b',
  'a/',
  'a%2Fb',
  'a%2Fb/a',
].map((rest) => `/${rest}`);
const NAMES = ['a', 'b', 'ab', 'ba', 'aab', 'abb', 'bab', 'aaaa', '@preset/a', 'b@preset/a'];

const PROVIDER = { isCustom: false, basePath: '', sensitiveCalls: [], opaqueCalls: [], modelCalls: [] };

/** What a policy allows at the provider `p`, by the rules of the data planes. */
function allowed(policy: AgentPolicy | null): { calls: Set<string>; models: Set<string> } {
  const ofProvider = callPolicyOf(policy, 'p');
  const rules = new CallRules({ ...PROVIDER, policy: ofProvider });
  const calls = new Set<string>();
  for (const verb of ['GET', 'POST'])
    for (const one of PATHS) if (rules.allows(verb, one, true, null, [])) calls.add(`${verb} ${one}`);
  const rule = ofProvider === null || ofProvider.models === null ? null : new ModelRule(ofProvider.models);
  const models = NAMES.filter((one) => ofProvider?.closed !== true && (rule === null || rule.allows(one)));
  return { calls, models: new Set(models) };
}

const isSubset = <T>(inner: ReadonlySet<T>, outer: ReadonlySet<T>): boolean =>
  [...inner].every((one) => outer.has(one));

const patternsRule = fc.record(
  { allow: fc.uniqueArray(name, { maxLength: 2 }), deny: fc.uniqueArray(name, { maxLength: 1 }) },
  { requiredKeys: [] },
);
const policy: fc.Arbitrary<AgentPolicy | null> = fc.option(
  fc.dictionary(
    fc.constantFrom('p', 'q'),
    fc.record({ calls: fc.uniqueArray(callPattern, { maxLength: 3 }), models: patternsRule }, { requiredKeys: [] }),
    { noNullPrototype: true },
  ),
);

test('narrowing: what two policies allow together is within both', () => {
  fc.assert(
    fc.property(policy, policy, (outer, inner) => {
      const [both, ofOuter, ofInner] = [combinePolicies(outer, inner), outer, inner].map(allowed);
      for (const field of ['calls', 'models'] as const) {
        expect(isSubset<string>(both![field], ofOuter![field])).toBe(true);
        expect(isSubset<string>(both![field], ofInner![field])).toBe(true);
      }
    }),
  );
});

test('narrowing: a policy that is not reported as wider keeps everything that it allows', () => {
  fc.assert(
    fc.property(policy, policy, (outer, inner) => {
      fc.pre(inner !== null && findWidening(outer, inner) === null);
      const kept = allowed(combinePolicies(outer, inner));
      const wanted = allowed(inner);
      const limits = allowed(outer);
      // Denied names of the parent and fields that only the parent limits stay limited.
      for (const call of wanted.calls) expect(kept.calls.has(call)).toBe(limits.calls.has(call));
    }),
  );
});

test.each([
  ['POST /v1/chat/completions', 'POST /v1/**', true],
  ['POST /v1/chat/completions', '* /v1/*/completions', true],
  ['* /v1/chat', 'POST /v1/chat', false],
  ['GET /v1/**', 'GET /v1/*', false],
  ['GET /v1/*', 'GET /v1/**', true],
  ['GET /v1/models/**', 'GET /v1/**', true],
  ['GET /**', 'GET /v1/**', false],
  ['GET /v1/m*', 'GET /v1/*', true],
  ['GET /v1/*', 'GET /v1/m*', false],
  ['GET /**/x', 'GET /a/**/x', false],
  ['GET /a/**/x/y', 'GET /a/**/y', true],
  ['GET /a%2Fb', 'GET /*', false],
  ['GET /a%2Fb', 'GET /*%2F*', true],
])('calls: %s is within %s: %s', (inner, outer, expected) => {
  expect(isCallPatternWithin(inner, outer)).toBe(expected);
});

test.each([
  ['models', 'gpt-5-mini', 'gpt-5*', true],
  ['models', 'GPT-5-*', 'gpt-*', true],
  ['models', 'gpt-*', 'gpt-5*', false],
  ['models', '*', '*', true],
  ['models', '*', '\u0001', false],
  ['models', '*mini', '*-mini', false],
  ['models', '@preset/p', '*', false],
  ['models', 'a@preset/p', 'A@Preset/*', true],
  ['resources', 'file:///data/a/*', 'file:///data/*', true],
  ['resources', 'file:///DATA/a/*', 'file:///data/*', false],
] as const)('names of %s: %s is within %s: %s', (field, inner, outer, expected) => {
  expect(isNamePatternWithin(inner, outer, field)).toBe(expected);
});

const LIMIT = { tool: 'delete_*', rpm: 5 };

test('narrowing: limits of tools stay', () => {
  expect(combinePolicies({ p: { toolLimits: [LIMIT] } }, { p: {} })).toEqual({ p: { toolLimits: [LIMIT] } });
  expect(combinePolicies({ p: {} }, { p: { toolLimits: [LIMIT] } })).toEqual({ p: { toolLimits: [LIMIT] } });
});

test.each([
  [{ p: {} }, { q: {} }, 'policy.q: the parent allows no call to this provider'],
  [
    { p: { calls: ['GET /a'] } },
    { p: { calls: ['POST /a'] } },
    'policy.p.calls: the parent does not allow all of "POST /a"',
  ],
  [
    { p: { models: { allow: ['a*'] } } },
    { p: { models: { allow: ['b'] } } },
    'policy.p.models.allow: the parent does not allow all of "b"',
  ],
  [
    { p: { tools: { allow: ['get_*'] } } },
    { p: { tools: { allow: ['*'] } } },
    'policy.p.tools.allow: the parent does not allow all of "*"',
  ],
  [{ p: { models: { deny: ['a'] } } }, { p: { models: { allow: ['a'] } } }, null],
  [
    { p: { models: { deny: ['a'] } } },
    { p: { models: { allow: ['@preset/b'] } } },
    'policy.p.models.allow: the parent does not allow all of "@preset/b"',
  ],
  [null, { p: {} }, null],
  [{ p: { toolLimits: [LIMIT] } }, { p: {} }, null],
  [
    { p: { toolLimits: [LIMIT] } },
    { p: { toolLimits: [LIMIT] } },
    'policy.p.toolLimits: those of the parent hold: leave the field out',
  ],
  [{ p: {} }, null, null],
])('widening: %j and then %j', (outer, inner, expected) => {
  expect(findWidening(outer, inner)).toBe(expected);
});
