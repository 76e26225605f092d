import type { IAgentContext, IInjection } from '@acg/proto/messages';
import { describe, expect, it } from 'vitest';
import { BUDGET_ROW, UNLIMITED } from '../limits/limit-table.js';
import { decodeContext } from './decode-context.js';
import { createContextMessage } from './testing/context-message-fixture.js';

const SECRET = 'sk-"odd secret/+ü';

const injection = (message: IInjection, change: Partial<IAgentContext> = {}) =>
  decodeContext(createContextMessage({ ...change }, { injection: message })).upstreams.get('openai')!.injection;

describe('decodeContext', () => {
  it('decodes budget, limits and maps', () => {
    const context = decodeContext(createContextMessage({ budgetCents: 1_000, unassignedProviders: ['s3'] }));
    expect(context.agentLimits.byRow[BUDGET_ROW]).toBe(10_000_000_000);
    expect(context.keyExpiresAtMs).toBeNull();
    expect([...context.upstreams.keys()]).toEqual(['openai']);
    expect(context.unassignedProviders.has('s3')).toBe(true);
    expect(decodeContext(createContextMessage({})).agentLimits.byRow[BUDGET_ROW]).toBe(UNLIMITED);
  });

  it('header: value, alternatives and the bearer form carry the secret; own headers replace those of the client', () => {
    const decoded = injection({
      header: {
        name: 'x-api-key',
        prefix: '',
        secret: SECRET,
        alternatives: [{ name: 'authorization', prefix: 'Bearer ' }],
        alsoBearerUnlessUserJwt: true,
      },
      extraHeaders: [{ name: 'OpenAI-Organization', value: 'org-1' }],
      dropHeaders: ['openai-project'],
    });
    if (decoded.kind !== 'header') throw new Error(decoded.kind);
    expect(decoded.value).toBe(SECRET);
    expect(decoded.alternatives.get('authorization')).toBe(`Bearer ${SECRET}`);
    expect(decoded.bearerUnlessUserJwt).toBe(`Bearer ${SECRET}`);
    expect([...decoded.dropHeaders].sort()).toEqual(['openai-organization', 'openai-project', 'x-api-key']);
    expect(decoded.secretForms).toContain(SECRET);
    expect(decoded.secretForms).toContain('sk-\\"odd secret/+ü'); // as it appears in a JSON error body
  });

  it('basic: masks the base64 of user and password, not the user name', () => {
    const decoded = injection({ basic: { username: 'robot', password: 'pass-word-1' } });
    if (decoded.kind !== 'basic') throw new Error(decoded.kind);
    const encoded = Buffer.from('robot:pass-word-1').toString('base64');
    expect(decoded.value).toBe(`Basic ${encoded}`);
    expect(decoded.secretForms).toEqual([encoded.replace('=', '\\u003d'), encoded, 'pass-word-1']);
  });

  it('query: precomputes the pair and masks every encoding', () => {
    const decoded = injection({ query: { name: 'api key', secret: 'a b/c+d=ü' } });
    if (decoded.kind !== 'query') throw new Error(decoded.kind);
    expect(decoded.pair).toBe('api%20key=a%20b%2Fc%2Bd%3D%C3%BC');
    const encoded = ['a%20b%2Fc%2Bd%3D%C3%BC', 'a+b%2Fc%2Bd%3D%C3%BC'];
    expect(decoded.secretForms).toEqual(
      expect.arrayContaining([
        'a b/c+d=ü',
        ...encoded,
        ...encoded.map((form) => form.replaceAll(/%../g, (one) => one.toLowerCase())),
      ]),
    );
  });

  it.each([
    ['PHP', String.raw`k\/+=<>&\"`],
    ['Go and Ruby on Rails', String.raw`k/+=\u003c\u003e\u0026\"`],
    ['Gson', String.raw`k/+\u003d\u003c\u003e\u0026\"`],
    ['System.Text.Json', String.raw`k/\u002B=\u003C\u003E\u0026\u0022`],
  ])('masks a secret as the JSON encoder of %s writes it', (_encoder, written) => {
    const secret = 'k/+=<>&"';
    expect(JSON.parse(`"${written}"`)).toBe(secret);
    const decoded = injection({ header: { name: 'authorization', prefix: 'Bearer ', secret } });
    expect(decoded.secretForms).toContain(written);
  });

  it('sigv4: masks only the session token, because no other secret is sent', () => {
    const keys = { accessKeyId: 'AKIA', secretAccessKey: 'very-secret', region: 'auto', service: 's3' };
    const without = injection({ sigv4: keys });
    if (without.kind !== 'sigv4') throw new Error(without.kind);
    expect(without.sessionToken).toBeNull();
    expect(without.secretForms).toEqual([]);
    expect(injection({ sigv4: { ...keys, sessionToken: 'session-1' } }).secretForms).toEqual(['session-1']);
  });

  it.each([
    ['no key id', { keyId: '' }],
    ['an unknown status', { agentStatus: 'sleeping' }],
  ])('rejects a context with %s, without its values in the error', (_what, change) => {
    expect(() => decodeContext(createContextMessage(change))).toThrow(/^context with/);
  });
});
