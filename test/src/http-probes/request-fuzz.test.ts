import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { COMMON_HEADERS } from './hostile-request-cases.js';
import { GATEWAY_TOKEN, PROVIDER_KEY, ProbeHarness } from './probe-harness.js';

let harness: ProbeHarness;

beforeAll(async () => {
  harness = await ProbeHarness.start();
});
afterAll(() => harness.stop());

const SEEDS = [
  `GET /v1/proxy/probe/a/b?c=d HTTP/1.1\r\n${COMMON_HEADERS}\r\n`,
  `POST /v1/proxy/probe/a HTTP/1.1\r\n${COMMON_HEADERS}content-length: 5\r\nx-a: b\r\n\r\nhello`,
  `POST /v1/proxy/probe/a HTTP/1.1\r\n${COMMON_HEADERS}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  `GET /v1/proxy/probe/a?apikey=${GATEWAY_TOKEN} HTTP/1.1\r\nhost: gw\r\n\r\n`,
  `GET /v1/self HTTP/1.1\r\n${COMMON_HEADERS}\r\n`,
];
const PIECES = [
  ...['\r\n', '\n', '\r', '\0', ' ', '\t', ':', ';', ',', '/', '//', '/../', '%2e%2e', '%00', '\\', '#', '?', '&', '*'],
  ...['content-length: 5\r\n', 'transfer-encoding: chunked\r\n', 'host: evil\r\n', 'connection: host\r\n', ': x\r\n'],
  ...[
    '\xff',
    '\xc3\xa4',
    '\x7f',
    'HTTP/1.1',
    'GET ',
    'authorization: Basic Og==\r\n',
    '0\r\n\r\n',
    `${'a'.repeat(5000)}`,
  ],
];

/** Mutations of a well-formed request: cuts, copies, swaps and insertions. */
const mutation = fc.record({
  kind: fc.constantFrom('insert', 'delete', 'replace', 'repeat'),
  at: fc.nat(10_000),
  length: fc.nat(20),
  piece: fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 4 })),
});

const mutated = fc
  .tuple(fc.constantFrom(...SEEDS), fc.array(mutation, { minLength: 1, maxLength: 4 }))
  .map(([seed, mutations]) => {
    let text = seed;
    for (const { kind, at, length, piece } of mutations) {
      const from = at % (text.length + 1);
      const rest = text.slice(from + (kind === 'insert' || kind === 'repeat' ? 0 : length));
      const put = kind === 'delete' ? '' : kind === 'repeat' ? text.slice(from, from + length) : piece;
      text = text.slice(0, from) + put + rest;
    }
    return text;
  });

test('fuzz: no request line or header crashes the server or reaches the upstream malformed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(mutated, { minLength: 20, maxLength: 20 }), async (texts) => {
      harness.upstream.reset();
      await Promise.all(texts.map((text) => harness.sendProbe([Buffer.from(text, 'latin1')])));
      expect(harness.upstream.problems).toEqual([]);
      expect(harness.gateway.bugs).toBe(0);
      for (const { target, headers, method } of harness.upstream.requests) {
        expect(target.startsWith('/base')).toBe(true);
        expect(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']).toContain(method);
        expect(headers.filter(([name]) => name === 'authorization')).toEqual([
          ['authorization', `Bearer ${PROVIDER_KEY}`],
        ]);
        expect(JSON.stringify(headers) + target).not.toContain(GATEWAY_TOKEN);
      }
    }),
    { numRuns: 100, interruptAfterTimeLimit: 30_000 },
  );
});
