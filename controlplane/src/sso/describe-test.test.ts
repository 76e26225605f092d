import { expect, test } from 'vitest';
import { describeTest } from './describe-test.js';
import type { ProviderProbe } from './probe-provider.js';

const REDIRECT_URI = 'https://gateway.example.com/sso/org/callback';
const CONNECTION = { issuer: 'https://login.example.com', clientId: 'gateway', groupsClaim: null };
const WORKING = {
  kind: 'document',
  endpointProblems: [],
  keys: { algorithms: ['RS256', 'ES256'], failure: null },
  isClientKnown: true,
  claims: null,
} satisfies ProviderProbe;
const domain = (name: string, verifiedAt: string | null = '2026-01-01T00:00:00.000Z') => ({
  id: name,
  domain: name,
  recordName: `_acg-challenge.${name}`,
  recordValue: `acg-domain-verification=${name}`,
  verifiedAt,
  checkedAt: verifiedAt,
});
const FACTS = {
  connection: CONNECTION,
  probe: WORKING as ProviderProbe,
  redirectUri: REDIRECT_URI,
  domains: [domain('a.com')],
};
const stepsOf = (facts: Partial<Parameters<typeof describeTest>[0]>) => {
  const steps = describeTest({ ...FACTS, ...facts });
  return Object.fromEntries(steps.map(({ name, ok, message, action }) => [name, { ok, message, action }]));
};
const states = (facts: Partial<Parameters<typeof describeTest>[0]>) =>
  Object.fromEntries(describeTest({ ...FACTS, ...facts }).map(({ name, ok }) => [name, ok]));

test('everything works: only the redirect URI is left to a login', () => {
  const steps = stepsOf({});
  expect(Object.keys(steps)).toEqual([
    'provider',
    'discovery',
    'issuer',
    'endpoints',
    'keys',
    'client',
    'redirect URI',
    'groups',
    'domains',
  ]);
  expect(steps['redirect URI']).toMatchObject({ ok: null, message: REDIRECT_URI, action: expect.any(String) });
  for (const [name, step] of Object.entries(steps))
    if (name !== 'redirect URI') expect({ name, ...step }).toMatchObject({ ok: true, action: null });
  expect(steps.discovery!.message).toBe('https://login.example.com/.well-known/openid-configuration answers.');
  expect(steps.keys!.message).toContain('RS256, ES256');
});

test('without a provider: what to set, the redirect URI and the domains', () => {
  const expected = { provider: false, 'redirect URI': null, domains: true };
  expect(states({ connection: null })).toEqual(expected);
  expect(states({ probe: null })).toEqual(expected);
});

test('steps that need a failed one are left out', () => {
  const connection = { ...CONNECTION, issuer: 'https://login.example.com/' };
  const unreachable = stepsOf({ connection, probe: { kind: 'unreachable', reason: 'ENOTFOUND' } });
  expect(Object.keys(unreachable)).toEqual(['provider', 'discovery', 'redirect URI', 'groups', 'domains']);
  expect(unreachable.discovery).toMatchObject({
    ok: false,
    message: 'No usable discovery document at https://login.example.com/.well-known/openid-configuration: ENOTFOUND.',
  });
  const another = states({ probe: { kind: 'another_issuer' } });
  expect(another).toMatchObject({ discovery: true, issuer: false });
  expect(another).not.toHaveProperty('keys');
});

test.each<[string, Partial<Extract<ProviderProbe, { kind: 'document' }>>, string, boolean | null, RegExp]>([
  ['bad endpoints', { endpointProblems: ['a is bad', 'b is bad'] }, 'endpoints', false, /a is bad; b is bad/],
  ['an unreadable key set', { keys: { algorithms: [], failure: 'no JSON' } }, 'keys', false, /no JSON/],
  ['no key', { keys: { algorithms: [], failure: null } }, 'keys', false, /no key/],
  ['an unknown client', { isClientKnown: false }, 'client', false, /rejects/],
  ['a silent token endpoint', { isClientKnown: null }, 'client', null, /does not say/],
])('%s: that step says what to do, and the others pass', (_name, change, step, ok, message) => {
  const steps = stepsOf({ probe: { ...WORKING, ...change } });
  expect(steps[step]).toMatchObject({ ok, message: expect.stringMatching(message), action: expect.any(String) });
  const rest = Object.entries(steps).filter(([name]) => name !== step && name !== 'redirect URI');
  expect(rest.every(([, other]) => other.ok === true)).toBe(true);
});

test('groups: known where the provider lists the claim, else left to a login', () => {
  const connection = { ...CONNECTION, groupsClaim: 'teams' };
  const groups = (probe: ProviderProbe) => stepsOf({ connection, probe }).groups!;
  expect(groups({ ...WORKING, claims: ['sub', 'teams'] })).toMatchObject({ ok: true, action: null });
  for (const probe of [{ ...WORKING, claims: ['sub'] }, WORKING, { kind: 'another_issuer' } as const])
    expect(groups(probe)).toMatchObject({ ok: null, message: expect.stringContaining('teams') });
});

test('domains: none, one that is not verified, and a long list', () => {
  expect(stepsOf({ domains: [] }).domains).toMatchObject({ ok: false, message: expect.stringContaining('no domain') });
  const pending = stepsOf({ domains: [domain('a.com'), domain('b.com', null), domain('c.com', null)] }).domains;
  expect(pending).toMatchObject({ ok: false, message: '2 of 3 domains are not verified: b.com, c.com.' });
  expect(pending!.action).toContain('_acg-challenge.b.com with acg-domain-verification=b.com');
  const names = ['a.com', 'b.com', 'c.com', 'd.com'].map((name) => domain(name));
  expect(stepsOf({ domains: names.slice(0, 3) }).domains!.message).toBe('Verified: a.com, b.com, c.com.');
  expect(stepsOf({ domains: names }).domains!.message).toBe('Verified: a.com, b.com, c.com, ….');
});
