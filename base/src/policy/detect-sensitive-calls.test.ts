import { expect, test } from 'vitest';
import type { SensitiveCall } from './call-rule-source.js';
import { SensitiveCallDetector } from './detect-sensitive-calls.js';

const plain = (call: string): SensitiveCall => ({ call, query: [], headers: [], harmlessValues: [] });
const rules = new SensitiveCallDetector([plain('* /api-keys/**'), plain('POST /v1/realtime/sessions')]);
const isSensitive = (method: string, path: string, basePath = ''): boolean =>
  rules.matches(method, basePath, path, null, []);

test.each([
  ['POST', '/api-keys', true],
  ['GET', '/api-keys/7', true],
  ['POST', '/API-KEYS/', true],
  ['POST', '/%61pi-keys', true],
  ['POST', '//api-keys', true],
  ['POST', '/x/../api-keys', true],
  ['POST', '/api-keys;jsessionid=1', true],
  ['POST', '/emails', false],
  ['POST', '/api-keysx', false],
  ['POST', '/v1/realtime/sessions', true],
  ['GET', '/v1/realtime/sessions', false],
])('%s %s is sensitive: %s, also from the cache', (method, path, expected) => {
  expect(isSensitive(method, path)).toBe(expected);
  expect(isSensitive(method, path)).toBe(expected);
});

test('matches a path whose beginning is in the base path', () => {
  const supabase = new SensitiveCallDetector([plain('* /auth/v1/admin/**')]);
  expect(supabase.matches('GET', '/auth/v1', '/admin/users', null, [])).toBe(true);
  expect(supabase.matches('GET', '/auth/v1', '/user', null, [])).toBe(false);
});

test('matches the parameters of a call whose path begins in the base path', () => {
  const github = new SensitiveCallDetector([{ ...plain('GET /user/codespaces/**'), query: ['internal'] }]);
  expect(github.matches('GET', '/user', '/codespaces/x', 'internal=1', [])).toBe(true);
  expect(github.matches('GET', '/user', '/codespaces/x', 'other=1', [])).toBe(false);
  expect(github.matches('GET', '/me', '/codespaces/x', 'internal=1', [])).toBe(false);
});

const s3 = new SensitiveCallDetector([
  { ...plain('GET /**'), query: ['session'] },
  { ...plain('PUT /**'), query: ['acl', 'publicAccessBlock'] },
  { ...plain('PUT /**'), headers: ['x-amz-acl', 'x-amz-grant-*'], harmlessValues: ['private'] },
]);

test.each<[string, string | null, string[], boolean]>([
  ['GET', 'session', [], true],
  ['GET', 'sess%69on=', [], true],
  ['GET', 'a=session', [], false],
  ['PUT', 'session', [], false],
  ['PUT', 'acl', [], true],
  ['PUT', 'x=1;acl', [], true],
  ['PUT', 'PUBLICACCESSBLOCK', [], true],
  ['PUT', null, ['x-amz-acl', 'public-read'], true],
  ['PUT', null, ['x-amz-acl', 'private'], false],
  ['PUT', null, ['x-amz-acl', 'private', 'x-amz-acl', 'public-read'], true],
  ['PUT', null, ['x-amz-grant-read', 'uri="all"'], true],
  ['PUT', 'X-Amz-Acl=public-read', [], true],
  ['PUT', 'x-amz-acl=private', [], false],
  ['PUT', null, ['content-type', 'text/plain'], false],
])('%s ?%s with %j is sensitive: %s', (method, query, headers, expected) => {
  expect(s3.matches(method, '', '/bucket/key', query, headers)).toBe(expected);
});

test('decodes a deeply encoded path in one pass', () => {
  const path = `/${'%25'.repeat(2_600)}61`;
  expect(isSensitive('GET', path)).toBe(false);
});
