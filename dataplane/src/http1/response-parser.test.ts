import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MalformedResponseError } from './parse-response-head.js';
import { ResponseParser } from './response-parser.js';
import {
  arbitraryResponses,
  mutateBytes,
  mutation,
  NODE_IS_STRICT,
  parseWithGateway,
  parseWithNode,
  type Reading,
  splitAt,
} from './testing/compare-response-parsers-fixture.js';

const places = fc.oneof(fc.array(fc.nat(2_000), { maxLength: 12 }), fc.constant(null));
const everywhere = (bytes: Buffer): number[] => [...bytes.keys()];

test('parses a well-formed response in any pieces as node does', () => {
  fc.assert(
    fc.property(arbitraryResponses, places, (answer, cuts) => {
      const pieces = splitAt(answer.bytes, cuts ?? everywhere(answer.bytes));
      const ours = parseWithGateway(pieces, answer.method, answer.untilClose);
      expect(ours).toMatchObject({ heads: answer.heads, body: answer.body, ended: true, rejected: false });
      const { heads, body, ended, rejected } = parseWithNode([answer.bytes], answer.method, answer.untilClose);
      expect({ heads, body, ended, rejected }).toEqual({
        heads: ours.heads,
        body: ours.body,
        ended: true,
        rejected: false,
      });
    }),
  );
});

/** Reasons for which node rejects bytes that ResponseParser accepts. None of them moves the end of a response. */
const NODE_ONLY_REJECTIONS = [
  // ResponseParser ignores chunk extensions and checks only their line end.
  /^Invalid character in chunk extensions/,
  // `Connection: close` on an informational response, or HTTP/1.0: the final response still follows.
  /^Data after `Connection: close`/,
  // ResponseParser drops trailers, so a length in a trailer frames nothing.
  /^Content-Length can't be present with Transfer-Encoding|^Content-Length already present|^Invalid character in Content-Length|^Content-Length overflow|^Empty Content-Length/,
];

test('parses damaged bytes as node does, or rejects them', () => {
  fc.assert(
    fc.property(
      arbitraryResponses,
      fc.array(mutation, { minLength: 1, maxLength: 3 }),
      places,
      fc.boolean(),
      (answer, changes, cuts, closes) => {
        const bytes = mutateBytes(answer.bytes, changes);
        const ours = parseWithGateway(splitAt(bytes, cuts ?? everywhere(bytes)), answer.method, closes);
        const inOnePiece = parseWithGateway([bytes], answer.method, closes);
        // Bytes in the same read as the damage are not emitted.
        expect({ ...ours, body: ours.rejected ? '' : ours.body }).toEqual({
          ...inOnePiece,
          body: inOnePiece.rejected ? '' : inOnePiece.body,
        });
        if (!ours.ended || !NODE_IS_STRICT) return;
        const theirs = parseWithNode([bytes], answer.method, closes);
        if (theirs.rejected) {
          expect(
            NODE_ONLY_REJECTIONS.some((reason) => reason.test(theirs.reason)),
            theirs.reason,
          ).toBe(true);
          return;
        }
        expect(theirs).toMatchObject({ heads: ours.heads, body: ours.body, ended: true });
        if (ours.reusable) expect(theirs.reusable).toBe(true);
      },
    ),
  );
});

const OK = 'HTTP/1.1 200 OK\r\n';
const chunked = (body: string): string => `${OK}Transfer-Encoding: chunked\r\n\r\n${body}`;
const te = (value: string): string => `${OK}Transfer-Encoding:${value}\r\n\r\n1\r\na\r\n0\r\n\r\n`;
const cl = (value: string): string => `${OK}Content-Length:${value}\r\n\r\na`;
const read = (text: string, closes = false, method = 'GET'): Reading =>
  parseWithGateway([Buffer.from(text, 'latin1')], method, closes);
const readInBytes = (text: string): Reading =>
  parseWithGateway(
    splitAt(
      Buffer.from(text, 'latin1'),
      [...text].map((_, i) => i),
    ),
    'GET',
    false,
  );
const asNode = (text: string): Reading => parseWithNode([Buffer.from(text, 'latin1')], 'GET', false);

test.each([
  te(' chunked, chunked'),
  te(' gzip, chunked'),
  te(' ,chunked'),
  te('\tCHUNKED '),
  te(' gzip\r\nTransfer-Encoding: chunked'),
  te(' chunked\r\nTransfer-Encoding: gzip'), // until the connection ends
  te(' chunked, gzip'),
  te(' identity'),
  te(' xchunked'),
  te(' x chunked'),
  te(' chunked,'),
  te(' "chunked"'),
  cl(' 1 '),
  cl('01'),
  `${OK}Connection: upgrade\r\nUpgrade: x\r\nContent-Length: 1\r\n\r\na`,
  'HTTP/1.1 200\r\nContent-Length: 1\r\n\r\na',
  'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
  chunked('1;x="\\""\r\na\r\n0;x=y\r\n\r\n'),
  chunked('1\r\na\r\n00\r\nX: y\r\n\r\n'),
  `${OK}Content-Length: 1\r\n\r\na${OK}Content-Length: 1\r\n\r\nb`, // only the first one, and the connection ends
])('parses as node does: %j', (text) => {
  const { heads, body, ended, rejected } = asNode(text);
  expect(read(text)).toMatchObject({ heads, body, ended, rejected });
  expect(rejected).toBe(false);
  expect(readInBytes(text)).toMatchObject({ heads, body, ended, rejected });
});

test.each([
  `${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`,
  `${OK}Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n1\r\na\r\n0\r\n\r\n`,
  `${OK}Transfer-Encoding: identity\r\nContent-Length: 1\r\n\r\na`,
  cl(' 1\r\nContent-Length: 1'),
  ...[' 1, 1', ' +1', ' 0x1', ' -1', '', ' 1.0', ' 1a', ' 1 1', ' 99999999999999999999', ' 18446744073709551617'].map(
    cl,
  ),
  `${OK}Content-Length : 1\r\n\r\na`,
  `${OK} Content-Length: 1\r\n\r\na`,
  `${OK}X: a\r\n Content-Length: 1\r\n\r\na`,
  `${OK}X: a\nContent-Length: 1\r\n\r\na`,
  `${OK}X: a\rContent-Length: 1\r\n\r\na`,
  `${OK}X: a\0b\r\nContent-Length: 1\r\n\r\na`,
  `${OK}X\r\nContent-Length: 1\r\n\r\na`,
  `${OK}: x\r\nContent-Length: 1\r\n\r\na`,
  `${OK}X\xe9: x\r\nContent-Length: 1\r\n\r\na`,
  'HTTP/1.1 200 OK\nContent-Length: 1\r\n\r\na',
  cl(' 1\n\n'), // rejected now, because the end of the head may never arrive
  `${OK}Content-Length: 1\r\n\na`,
  `${OK}Content-Length: 1\n\r\na`,
  ...[
    'HTTP/1.1  200 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 200OK',
    'HTTP/1.2 200 OK',
    'http/1.1 200 OK',
    'ICY 200 OK',
  ].map((line) => `${line}\r\nContent-Length: 1\r\n\r\na`),
  'SSH-2.0-OpenSSH_9.2\r\n',
  '\x15\x03\x01\x00\x02\x02\x46', // a TLS alert
  ...['1 ', '+1', '0x1', '-1', ' 1', '', 'g', ';x', '1;x\0', '10000000000000001', '1\r'].map((size) =>
    chunked(`${size}\r\na\r\n0\r\n\r\n`),
  ),
  ...['1\r\nab\r\n0\r\n\r\n', '1\na\r\n0\r\n\r\n', '1\r\na\n0\r\n\r\n', '1\r\na0\r\n\r\n', '1\r\na\r\r\n0\r\n\r\n'].map(
    chunked,
  ),
  ...['0\n\r\n', '0\r\n\n', '0\r\nX: y\n\r\n', '0\r\n X: y\r\n\r\n', '0\r\nX\r\n\r\n'].map(chunked),
])('rejects, as node does: %j', (text) => {
  if (NODE_IS_STRICT) expect(asNode(text)).toMatchObject({ rejected: true });
  expect(read(text)).toMatchObject({ rejected: true, ended: false, reusable: false });
  expect(readInBytes(text)).toMatchObject({ rejected: true, ended: false, reusable: false });
});

test.each([te(' chunked\t'), te(' chunked \t'), te(' chunked\t '), te(' gzip,\tchunked')])(
  'rejects a tab after a coding, because node would read until the connection closes: %j',
  (text) => {
    expect(read(text)).toMatchObject({ rejected: true, ended: false, reusable: false });
    expect(readInBytes(text)).toMatchObject({ rejected: true, ended: false, reusable: false });
  },
);

test.each([
  te(''),
  te(' \t'),
  te(' chunked\r\nTransfer-Encoding:'),
  te('\r\nTransfer-Encoding: chunked'),
  `${OK}Transfer-Encoding:\r\nContent-Length: 1\r\n\r\na`,
])('rejects an empty coding, as node 22 does: %j', (text) => {
  if (Number.parseInt(process.versions.node, 10) >= 22) expect(asNode(text)).toMatchObject({ rejected: true });
  expect(read(text)).toMatchObject({ rejected: true, ended: false, reusable: false });
  expect(readInBytes(text)).toMatchObject({ rejected: true, ended: false, reusable: false });
});

test.each([
  'HTTP/2.0 200 OK\r\nContent-Length: 1\r\n\r\na',
  'HTTP/0.9 200 OK\r\nContent-Length: 1\r\n\r\na',
  'RTSP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na',
  'HTTP/1.1 099 Low\r\nContent-Length: 1\r\n\r\na',
  `\r\n${OK}Content-Length: 1\r\n\r\na`,
  'HTTP/1.1 200 O\x01K\r\nContent-Length: 1\r\n\r\na',
  cl(' 0000000000000001'),
  'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
  chunked('ffffffffffffffff\r\na'),
  chunked('0000000000001\r\na\r\n0\r\n\r\n'),
])('rejects, although node accepts it: %j', (text) => {
  if (NODE_IS_STRICT) expect(asNode(text)).toMatchObject({ rejected: false });
  expect(read(text)).toMatchObject({ rejected: true, ended: false, reusable: false });
  expect(readInBytes(text)).toMatchObject({ rejected: true, ended: false, reusable: false });
});

test.each([
  ['a kept connection', `${OK}Content-Length: 0\r\n\r\n`, 'GET', true],
  ['Connection: close', `${OK}Connection: x, Close\r\nContent-Length: 0\r\n\r\n`, 'GET', false],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n', 'GET', false],
  ['HEAD', `${OK}Content-Length: 5\r\n\r\n`, 'HEAD', false],
  ['a body until the end', `${OK}\r\nabc`, 'GET', false],
  ['bytes after an empty body', `${OK}Content-Length: 0\r\n\r\nx`, 'GET', false],
  ['bytes after a fixed body', `${OK}Content-Length: 1\r\n\r\nax`, 'GET', false],
  ['bytes after a chunked body', chunked('1\r\na\r\n0\r\n\r\n\r\n'), 'GET', false],
  ['bytes after a 204', 'HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n\r\n', 'GET', false],
  ['a body of a 304', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nab', 'GET', false],
])('decides whether the connection is reusable: %s', (_name, text, method, reusable) => {
  const bytes = Buffer.from(text, 'latin1');
  expect(parseWithGateway([bytes], method, false).reusable).toBe(reusable);
  expect(parseWithGateway(splitAt(bytes, everywhere(bytes)), method, false).reusable).toBe(reusable);
});

test('completes only a body without framing at the end of the connection', () => {
  expect(read(`${OK}\r\nabc`, true)).toMatchObject({ ended: true, body: 'abc' });
  for (const text of [
    OK,
    `${OK}\r`,
    cl(' 2'),
    chunked('1\r\na'),
    chunked('1\r\na\r\n0\r\n'),
    'HTTP/1.1 103 x\r\n\r\n',
    '',
  ]) {
    expect(read(text, true)).toMatchObject({ ended: false, rejected: false });
  }
});

test('limits heads and trailers to 64 KiB each, in any pieces', () => {
  const line = (bytes: number): string => `X: ${'a'.repeat(bytes - 5)}\r\n`;
  const frame = `${OK}Content-Length: 0\r\n\r\n`.length;
  const head = (bytes: number): string => `${OK}Content-Length: 0\r\n${line(bytes - frame)}\r\n`;
  expect(head(65_536)).toHaveLength(65_536);
  const hints = `HTTP/1.1 103 x\r\n${line(1_000 - 18)}\r\n`;
  for (const [text, ended] of [
    [head(65_536), true],
    [head(65_537), false],
    [`${hints.repeat(65)}${head(536)}`, true],
    [`${hints.repeat(65)}${head(537)}`, false],
    [hints.repeat(66), false],
    [chunked(`0\r\n${line(65_534)}\r\n`), true],
    [chunked(`0\r\n${line(65_535)}\r\n`), false],
    [chunked(`0\r\n${line(30_000)}${line(30_000)}${line(5_534)}\r\n`), true],
    [chunked(`0\r\n${line(30_000)}${line(30_000)}${line(5_535)}\r\n`), false],
    [chunked(`1;${'x'.repeat(1_020)}\r\na\r\n0\r\n\r\n`), true],
    [chunked(`1;${'x'.repeat(1_021)}\r\na\r\n0\r\n\r\n`), false],
  ] as const) {
    const bytes = Buffer.from(text, 'latin1');
    for (const pieces of [[bytes], splitAt(bytes, everywhere(bytes)), splitAt(bytes, [7, 20_000, 65_000])]) {
      expect(parseWithGateway(pieces, 'GET', false)).toMatchObject({ ended, rejected: !ended });
    }
  }
});

test.each([
  ['timeout=5', 5],
  ['timeout=5, max=100', 5],
  ['max=100,timeout=0', 0],
  ['Timeout=7', 7],
  ['xtimeout=7', -1],
  ['timeout=', -1],
  ['timeout=99999999999', -1],
])('reads Keep-Alive: %s', (value, seconds) => {
  const reader = new ResponseParser({ onHead() {}, onBody() {}, onEnd() {} });
  reader.begin('GET');
  const bytes = Buffer.from(`${OK}keep-alive: ${value}\r\nContent-Length: 0\r\n\r\n`);
  reader.push(bytes, bytes.length);
  expect(reader.keepAliveSec).toBe(seconds);
  reader.begin('GET');
  const next = Buffer.from(cl(' 1'));
  reader.push(next, next.length);
  expect(reader.keepAliveSec).toBe(-1); // the last response counts
});

test('reports nothing after stop from within a callback', () => {
  for (const at of ['head', 'body']) {
    const seen: string[] = [];
    const reader: ResponseParser = new ResponseParser({
      onHead: () => {
        seen.push('head');
        if (at === 'head') reader.stop();
      },
      onBody: () => {
        seen.push('body');
        reader.stop();
      },
      onEnd: () => void seen.push('end'),
    });
    for (const text of [`${OK}Content-Length: 0\r\n\r\n`, cl(' 1'), chunked('1\r\na\r\n0\r\n\r\n'), `${OK}\r\nabc`]) {
      seen.length = 0;
      reader.begin('GET');
      const bytes = Buffer.from(text);
      reader.push(bytes, bytes.length);
      if (text.includes('Length: 0') && at === 'body') expect(seen).toEqual(['head', 'end']);
      else expect(seen).toEqual(at === 'head' ? ['head'] : ['head', 'body']);
    }
  }
});

test('parses any number of responses, and none after the end', () => {
  const reader = new ResponseParser({ onHead() {}, onBody() {}, onEnd() {} });
  const bytes = Buffer.from(`${OK}x: ${'a'.repeat(1_000)}\r\nContent-Length: 1\r\n\r\na`);
  for (let i = 0; i < 200; i++) {
    reader.begin('GET');
    for (const piece of splitAt(bytes, [i])) reader.push(piece, piece.length);
    expect(reader.isConnectionReusable).toBe(true);
  }
  expect(reader.end()).toBe(true);
  expect(reader.isConnectionReusable).toBe(false);
});

test.each([
  ['head', `${OK}x: `],
  ['informational answers', ''],
  ['trailer line', chunked('0\r\nx: ')],
  ['trailers', chunked('0\r\n')],
  ['chunk extension', chunked('1;x=')],
])('rejects endless %s at their limit', (what, begin) => {
  const endless = what === 'informational answers' ? 'HTTP/1.1 103 x\r\n\r\n' : what === 'trailers' ? 'x: y\r\n' : 'a';
  for (const bytesEach of [1, 1_000]) {
    const reader = new ResponseParser({ onHead() {}, onBody() {}, onEnd() {} });
    reader.begin('GET');
    let bytes = 0;
    const push = (text: string): void => {
      const piece = Buffer.from(text, 'latin1');
      bytes += piece.length;
      reader.push(piece, piece.length);
    };
    if (begin !== '') push(begin);
    const piece = endless.repeat(Math.ceil(bytesEach / endless.length));
    expect(() => {
      while (bytes < 200_000) push(piece);
    }).toThrow(MalformedResponseError);
    expect(bytes).toBeLessThan(what === 'chunk extension' ? 3_000 : 68_000);
  }
});
