import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isPathAllowed,
  joinUpstreamPath,
  type ProxyTarget,
  parseProxyRequestTarget,
} from './parse-proxy-request-target.js';

const parsed = (raw: string): ProxyTarget => {
  const target = parseProxyRequestTarget(raw);
  if (typeof target === 'string') throw new Error(`${raw}: ${target}`);
  return target;
};

test.each([
  ['/v1/proxy/openai/v1/models', 'openai', '/v1/models', null],
  ['/v1/proxy/openai/v1/models?', 'openai', '/v1/models', ''],
  ['/v1/proxy/openai', 'openai', '', null],
  ['/v1/proxy/openai?a=b', 'openai', '', 'a=b'],
  ['/v1/proxy/s3/b/a%2Fb//c+d%20e?x-id=GetObject&a=%zz?', 's3', '/b/a%2Fb//c+d%20e', 'x-id=GetObject&a=%zz?'],
  ['/v1/proxy/custom-1//evil.host/x', 'custom-1', '//evil.host/x', null],
  ['/v1/proxy/x/a!$&\'()*,;=:@[]{}|^`"<>~', 'x', '/a!$&\'()*,;=:@[]{}|^`"<>~', null],
])('parses %s byte for byte', (raw, slug, rest, query) => {
  expect(parsed(raw)).toMatchObject({ slug, providerPath: rest, query });
});

test.each([
  ['/v1/self', 'not_proxy'],
  ['/v1/proxy/', 'not_proxy'],
  ['/v1/proxy//v1', 'not_proxy'],
  ['/v1/proxy/OpenAI/v1', 'not_proxy'],
  [`/v1/proxy/${'a'.repeat(41)}/v1`, 'not_proxy'],
  ['http://evil/v1/proxy/openai/v1', 'not_proxy'],
  ['*', 'not_proxy'],
  ['/v1/proxy/openai/a\\b', 'malformed'],
  ['/v1/proxy/openai/a#b', 'malformed'],
  ['/v1/proxy/openai/a?b#c', 'malformed'],
  ['/v1/proxy/openai/a b', 'malformed'],
  ['/v1/proxy/openai/a\x7f', 'malformed'],
  ['/v1/proxy/openai/a\r\nx: y', 'malformed'],
  ['/v1/proxy/openai/ä', 'malformed'],
  ['/v1/proxy/openai/a%', 'malformed'],
  ['/v1/proxy/openai/a%2', 'malformed'],
  ['/v1/proxy/openai/a%zz', 'malformed'],
  [`/v1/proxy/openai/${'a'.repeat(8192)}`, 'malformed'],
])('parses %s as %s', (raw, problem) => {
  expect(parseProxyRequestTarget(raw)).toBe(problem);
});

test.each([
  '/../x',
  '/a/..',
  '/./a',
  '/.',
  '/..',
  '/a/%2e%2e/b',
  '/a/%2E./b',
  '/a/..;x=1/b',
  '/a/..%2fb',
  '/a%2f..%2Fb',
  '/a/%252e%252e/b',
  '/a/..%5cb',
  '/a/%5c../b',
  '/%00',
  '/a%0d%0ab',
  '/a%7f',
  '/a%5Cb',
])('allows the path %s only for providers with object keys', (rest) => {
  const { shape } = parsed(`/v1/proxy/x${rest}`);
  expect(isPathAllowed(shape, false, '')).toBe(false);
  expect(isPathAllowed(shape, true, '')).toBe(true);
});

test.each(['/a.b/c..d/...', '/v1/.hidden', '/a%20b', '/a%2fb', '//', '/a//b/', '/x;y/..z', '/%41%42', '/a%2Fb.c'])(
  'classifies the path %s as regular',
  (rest) => {
    expect(parsed(`/v1/proxy/x${rest}`).shape).toBe('regular');
  },
);

const anyPath = fc
  .array(
    fc.constantFrom('/', '.', '..', '%2e', '%2F', '%5c', '%252e', ';', 'a', 'b', '//', ':', '@', 'evil.host', '%41'),
    { maxLength: 12 },
  )
  .map((parts) => `/${parts.join('')}`);

test('an allowed path never leaves the base path, however a server decodes and resolves it', () => {
  fc.assert(
    fc.property(anyPath, fc.constantFrom('/base', '/base/deep'), fc.boolean(), (rest, basePath, objectKeys) => {
      const target = parsed(`/v1/proxy/x${rest}`);
      if (!isPathAllowed(target.shape, objectKeys, basePath)) return;
      const path = joinUpstreamPath(basePath, target.providerPath);
      expect(path.startsWith(`${basePath}/`)).toBe(true);
      for (const form of [path, decodeURIComponent(path), decodeURIComponent(decodeURIComponent(path))]) {
        const resolved = new URL(`http://h${form.replaceAll('\\', '/').replaceAll(/;[^/]*/g, '')}`).pathname;
        expect(resolved === basePath || resolved.startsWith(`${basePath}/`)).toBe(true);
      }
    }),
  );
});

test('joinUpstreamPath never turns the path into a host', () => {
  expect(joinUpstreamPath('', '//evil.host/x')).toBe('//evil.host/x'); // sent in origin form behind a fixed authority
  expect(joinUpstreamPath('', '')).toBe('/');
  expect(joinUpstreamPath('/v2', '')).toBe('/v2');
  expect(joinUpstreamPath('/v2', '//x')).toBe('/v2//x');
});
