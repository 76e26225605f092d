import * as oauth from 'oauth4webapi';
import { expect, test } from 'vitest';
import { fetchKeys, IssuerMismatch, ProviderFailure, requireEndpoint, toProviderFailure } from './issuer-requests.js';

test('an endpoint is a URL that a browser opens as a page', () => {
  for (const text of [undefined, '', 'login', '/login', 'javascript:alert(1)', 'ftp://example.com', 'xhttps://a'])
    expect(() => requireEndpoint(text, 'token_endpoint')).toThrow('token_endpoint of the provider is not a URL');
  for (const text of ['https://example.com/token', 'http://127.0.0.1:1/token'])
    expect(requireEndpoint(text, 'token_endpoint').href).toBe(text);
});

test('another issuer in the discovery document is told apart from other failures', () => {
  const { JSON_ATTRIBUTE_COMPARISON: code } = oauth;
  const cause = { attribute: 'issuer' };
  const failure = toProviderFailure({ code, cause });
  expect(failure).toBeInstanceOf(IssuerMismatch);
  expect(failure.message).toContain('names another issuer');
  for (const error of [{ code, cause: { attribute: 'nonce' } }, { code }, { code: 'OTHER', cause }])
    expect(toProviderFailure(error)).not.toBeInstanceOf(IssuerMismatch);
});

test('a failure has short codes only, and nothing else that the provider has sent', () => {
  const own = new ProviderFailure('own');
  expect(toProviderFailure(own)).toBe(own);
  const describe = (error: object) => toProviderFailure(error).message;
  const codes = { code: 'OAUTH_RESPONSE_BODY_ERROR', error: 'invalid_grant', cause: { code: 'ECONNREFUSED' } };
  expect(describe(codes)).toBe('OAUTH_RESPONSE_BODY_ERROR, invalid_grant, ECONNREFUSED');
  expect(describe({ error: 'x'.repeat(60) })).toBe('x'.repeat(60));
  for (const error of ['<b>text</b>', 'x'.repeat(61), '', 7, { length: 1 }])
    expect(describe({ code: 'CODE', error })).toBe('CODE');
  expect(describe({ message: 'secret' })).toBe('the identity provider does not respond');
});

/** `status` and `body` are the answer of the key set. */
const fetchFrom = (jwks_uri: string | undefined, isInsecureAllowed: boolean, status = 200, body = '{"keys":[]}') =>
  fetchKeys(
    { issuer: 'https://example.com', ...(jwks_uri === undefined ? {} : { jwks_uri }) },
    {
      [oauth.customFetch]: async () => new Response(body, { status }),
      [oauth.allowInsecureRequests]: isInsecureAllowed,
      signal: () => AbortSignal.timeout(60_000),
    },
  );

test('keys come over https, unless the issuer itself has plain http', async () => {
  expect(await fetchFrom('https://example.com/jwks', false)).toEqual({ keys: [] });
  expect(await fetchFrom('https://example.com/jwks', true)).toEqual({ keys: [] });
  expect(await fetchFrom('http://127.0.0.1/jwks', true)).toEqual({ keys: [] });
  await expect(fetchFrom('http://127.0.0.1/jwks', false)).rejects.toThrow('must use https');
  await expect(fetchFrom(undefined, false)).rejects.toThrow('jwks_uri of the provider is not a URL');
});

test('keys are JSON with status 200', async () => {
  await expect(fetchFrom('https://example.com/jwks', false, 201)).rejects.toThrow('answers 201 instead of 200');
  await expect(fetchFrom('https://example.com/jwks', false, 200, '<html>')).rejects.toThrow('does not answer JSON');
});
