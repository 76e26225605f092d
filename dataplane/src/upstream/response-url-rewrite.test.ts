import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Upstream } from '../context/agent-context.js';
import { type BodyUrlRewriter, createAnthropicBatchUrlRewriter, rewriteUrlHeader } from './response-url-rewrite.js';
import { createTestUpstream } from './testing/upstream-and-injection-fixture.js';

const GATEWAY = 'https://gateway.example';
const rewriteLocation = (value: string, upstream: Upstream): string =>
  rewriteUrlHeader('location', value, [upstream], () => GATEWAY);

const upstream = createTestUpstream({ providerSlug: 'files', origin: 'https://api.example.com', basePath: '/base' });

test.each([
  ['https://api.example.com/base/v1/x?y#z', '/v1/proxy/files/v1/x?y#z'],
  ['HTTPS://API.example.com/base/v1/x', '/v1/proxy/files/v1/x'],
  ['//api.example.com/base/v1', '/v1/proxy/files/v1'],
  ['/base/v1/x', '/v1/proxy/files/v1/x'],
  ['/base', '/v1/proxy/files'],
  ['https://api.example.com/other', 'https://api.example.com/other'],
  ['/basement/x', '/basement/x'],
  ['https://api.example.com.evil/base/x', 'https://api.example.com.evil/base/x'],
  ['https://api.example.com:444/base/x', 'https://api.example.com:444/base/x'],
  ['https://cdn.example.com/base/x', 'https://cdn.example.com/base/x'],
  ['relative/x', 'relative/x'],
])('rewrites Location %s to %s', (value, expected) => {
  expect(rewriteLocation(value, upstream)).toBe(expected);
});

test('rewrites Location for an origin without a base path', () => {
  const plain = createTestUpstream({ providerSlug: 'openai', origin: 'https://api.openai.com', basePath: '' });
  expect(rewriteLocation('https://api.openai.com', plain)).toBe('/v1/proxy/openai');
  expect(rewriteLocation('https://api.openai.com?x', plain)).toBe('/v1/proxy/openai/?x');
  expect(rewriteLocation('/v1/files', plain)).toBe('/v1/proxy/openai/v1/files');
  for (const other of [
    'https://api.openai.com.evil/v1',
    'https://api.openai.com:444/v1',
    'https://api.openai.com@evil/',
  ]) {
    expect(rewriteLocation(other, plain)).toBe(other);
  }
});

const github = [
  createTestUpstream({ providerSlug: 'github', origin: 'https://api.github.com' }),
  createTestUpstream({ providerSlug: 'github', proxyName: 'github:uploads', origin: 'https://uploads.github.com' }),
];
const rewriteLink = (value: string): string => rewriteUrlHeader('link', value, github, () => GATEWAY);
const PROXY = `${GATEWAY}/v1/proxy`;

test.each([
  [
    '<https://api.github.com/repositories/1/issues?page=2>; rel="next", <https://api.github.com/x?page=9>; rel="last"',
    `<${PROXY}/github/repositories/1/issues?page=2>; rel="next", <${PROXY}/github/x?page=9>; rel="last"`,
  ],
  ['<https://uploads.github.com/a>; rel=next', `<${PROXY}/github:uploads/a>; rel=next`],
  ['</a?page=2>; rel=next', `<${PROXY}/github/a?page=2>; rel=next`],
  ['<//API.github.com/a>; rel=next', `<${PROXY}/github/a>; rel=next`],
  [
    '<https://docs.github.com/a>; rel=help, <https://api.github.com/b>',
    `<https://docs.github.com/a>; rel=help, <${PROXY}/github/b>`,
  ],
  ['<https://api.github.com.evil/a>; rel=next', '<https://api.github.com.evil/a>; rel=next'],
  ['<https://api.github.com/a; rel=next', '<https://api.github.com/a; rel=next'],
  ['<<https://api.github.com/a>', '<<https://api.github.com/a>'],
  ['no URL', 'no URL'],
  ['', ''],
])('rewrites Link %s', (value, expected) => {
  expect(rewriteLink(value)).toBe(expected);
});

test('a redirect to another origin of the provider stays on the gateway', () => {
  expect(rewriteUrlHeader('location', 'https://uploads.github.com/a', github, () => GATEWAY)).toBe(
    '/v1/proxy/github:uploads/a',
  );
});

test('rewrites the upload URL of Google to an absolute URL', () => {
  expect(rewriteUrlHeader('x-goog-upload-url', 'https://api.github.com/upload?id=1', github, () => GATEWAY)).toBe(
    `${PROXY}/github/upload?id=1`,
  );
  expect(rewriteUrlHeader('x-goog-upload-url', 'https://other.example/u', github, () => GATEWAY)).toBe(
    'https://other.example/u',
  );
});

test('rewrites at most 64 URLs of a Link value', () => {
  const rewritten = rewriteLink(Array.from({ length: 1_000 }, () => '</>').join());
  expect(rewritten.split(GATEWAY)).toHaveLength(65);
  expect(rewritten.endsWith(',</>,</>')).toBe(true);
});

test('a Link value keeps every byte outside of the rewritten URLs, and its size stays bounded', () => {
  const unit = fc.constantFrom(
    '<',
    '>',
    '/',
    ',',
    'a',
    'https://api.github.com',
    'https://uploads.github.com',
    '.evil',
  );
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 200 }), (value) => {
      const rewritten = rewriteLink(value);
      const restored = rewritten
        .replaceAll(`${PROXY}/github:uploads`, 'https://uploads.github.com')
        .replaceAll(`${PROXY}/github`, 'https://api.github.com');
      const absolute = value.replaceAll(/<(\/(?:[^/>][^>]*)?)(?=>)/g, '<https://api.github.com$1');
      const withScheme = absolute.replaceAll(/<\/\/(?=(?:api|uploads)\.github\.com)/g, '<https://');
      if ((value.match(/</g)?.length ?? 0) <= 64 && !/<[^>]*</.test(value)) expect(restored).toBe(withScheme);
      expect(rewritten.length).toBeLessThanOrEqual(value.length + 64 * `${PROXY}/github:uploads`.length);
    }),
  );
});

test('rewrites the URL of batch results to the proxy in any chunking', () => {
  const anthropic = createTestUpstream({ usageFormat: 'anthropic', origin: 'https://api.anthropic.com', basePath: '' });
  const make = (): BodyUrlRewriter =>
    createAnthropicBatchUrlRewriter(anthropic, '/v1/messages/batches', 'application/json', '', () => 'http://gw:1')!;
  const text =
    '{"data":[{"results_url":"https://api.anthropic.com/v1/messages/batches/1/results"},{"x":"https://api"}]}';
  const expected = text.replace('https://api.anthropic.com', 'http://gw:1/v1/proxy/slug');
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (cuts) => {
      const rewrite = make();
      let out = '';
      let from = 0;
      for (const at of [...cuts.sort((a, b) => a - b), text.length]) {
        out += rewrite.push(Buffer.from(text.slice(from, at))).toString();
        from = at;
      }
      expect(out + rewrite.flush().toString()).toBe(expected);
    }),
  );
});

test('rewrites no other response body', () => {
  const anthropic = createTestUpstream({ usageFormat: 'anthropic' });
  expect(
    createAnthropicBatchUrlRewriter(anthropic, '/v1/messages', 'application/json', '', () => 'http://gw'),
  ).toBeNull();
  expect(
    createAnthropicBatchUrlRewriter(
      anthropic,
      '/v1/messages/batches/1/results',
      'application/x-jsonl',
      '',
      () => 'http://gw',
    ),
  ).toBeNull();
  expect(
    createAnthropicBatchUrlRewriter(anthropic, '/v1/messages/batches', 'application/json', 'gzip', () => 'http://gw'),
  ).toBeNull();
  expect(
    createAnthropicBatchUrlRewriter(
      createTestUpstream({}),
      '/v1/messages/batches',
      'application/json',
      '',
      () => 'http://gw',
    ),
  ).toBeNull();
});
