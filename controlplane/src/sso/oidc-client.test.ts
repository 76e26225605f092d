import type { AuthorizationServer, IDToken } from 'oauth4webapi';
import { expect, test } from 'vitest';
import { chooseClientAuthentication, readClaims } from './oidc-client.js';

const ISSUER = 'https://login.example.com';
const read = (claims: object, groupsClaim: string | null = null) =>
  readClaims({ issuer: ISSUER, groupsClaim }, { iss: ISSUER, sub: 'ada', ...claims } as unknown as IDToken);

test('a token with a subject alone says nothing else', () => {
  const nothing = { email: null, emailVerified: null, name: null, groups: null };
  expect(read({})).toEqual({ issuer: ISSUER, subject: 'ada', ...nothing });
});

test.each([
  ['Ada@Example.COM', 'ada@example.com'],
  [' ada@example.com ', 'ada@example.com'],
  [`${'a'.repeat(243)}@example.com`, `${'a'.repeat(243)}@example.com`],
  [`${'a'.repeat(244)}@example.com`, null],
  ['a\0@example.com', null],
  ['a\ud83d@example.com', null],
  ['  ', null],
  [['ada@example.com'], null],
  [null, null],
])('the address %j is read as %j', (email, expected) => {
  expect(read({ email }).email).toBe(expected);
});

test.each([
  [true, true],
  ['true', true],
  [false, false],
  ['false', false],
  ['True', false],
  [1, false],
  [null, false],
  [undefined, null],
])('email_verified %j is read as %j', (verified, expected) => {
  expect(read({ email_verified: verified }).emailVerified).toBe(expected);
});

test('a name has at most 255 characters', () => {
  expect(read({ name: ' Ada Lovelace ' }).name).toBe('Ada Lovelace');
  expect(read({ name: 'x'.repeat(255) }).name).toBe('x'.repeat(255));
  expect(read({ name: 'x'.repeat(256) }).name).toBeNull();
});

test('a subject has at most 255 characters that can be stored', () => {
  expect(read({ sub: 's'.repeat(255) }).subject).toBe('s'.repeat(255));
  expect(() => read({ sub: 's'.repeat(256) })).toThrow('too long');
  expect(() => read({ sub: 'a\0' })).toThrow('NUL');
});

test.each([
  [
    ['staff', 7, null, 'admins'],
    ['staff', 'admins'],
  ],
  ['staff', ['staff']],
  [[], []],
  [{ staff: true }, null],
  [undefined, null],
])('groups %j are read as %j', (teams, expected) => {
  expect(read({ teams, groups: ['other'] }, 'teams').groups).toEqual(expected);
  // Without a claim that lists them they are not read.
  expect(read({ teams }).groups).toBeNull();
});

test.each([
  [['client_secret_post'], true],
  [['client_secret_basic', 'client_secret_post'], true],
  [['client_secret_basic'], false],
  [undefined, false],
])('of a provider with %j the client secret is in the body: %j', async (methods, isInBody) => {
  const list = methods === undefined ? {} : { token_endpoint_auth_methods_supported: methods };
  const server: AuthorizationServer = { issuer: ISSUER, ...list };
  const [body, headers] = [new URLSearchParams(), new Headers()];
  await chooseClientAuthentication(server, 'secret')(server, { client_id: 'gateway' }, body, headers);
  expect([body.get('client_secret'), headers.get('authorization')]).toEqual(
    isInBody ? ['secret', null] : [null, expect.stringMatching(/^Basic /)],
  );
});
