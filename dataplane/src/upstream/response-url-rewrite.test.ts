import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BodyUrlRewriter, createAnthropicBatchUrlRewriter, rewriteLocation } from './response-url-rewrite.js';
import { createTestUpstream } from './testing/upstream-and-injection-fixture.js';

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
