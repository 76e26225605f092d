import { createRequire } from 'node:module';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contentLengthOf, formatRequestHead, InvalidRequestError } from './format-request-head.js';

const { HTTPParser } = createRequire(import.meta.url)('_http_common') as {
  HTTPParser: {
    new (): {
      [callback: number]: unknown;
      initialize(type: number, resource: object, headBytesMax: number, leniency: number): void;
      execute(bytes: Buffer): number | Error;
    };
    REQUEST: number;
    kOnHeaders: number;
    kOnHeadersComplete: number;
  };
};

/** Parses bytes with node's own parser. Returns the flat headers and the target of each request. */
function parseRequestsWithNode(bytes: Buffer): { headers: string[]; target: string }[] {
  const found: { headers: string[]; target: string }[] = [];
  let early: string[] = [];
  let target = '';
  const parser = new HTTPParser();
  parser.initialize(HTTPParser.REQUEST, {}, 1 << 20, 0);
  parser[HTTPParser.kOnHeaders] = (headers: string[], url: string) => {
    early.push(...headers);
    target += url;
  };
  parser[HTTPParser.kOnHeadersComplete] = (
    _major: number,
    _minor: number,
    headers: string[] | undefined,
    _method: unknown,
    url: string | undefined,
  ) => {
    found.push({ headers: [...early, ...(headers ?? [])], target: target + (url ?? '') });
    early = [];
    target = '';
    return 0;
  };
  const result = parser.execute(bytes);
  if (typeof result !== 'number') throw result;
  return found;
}

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ maxLength: 12 }),
  fc.stringMatching(/^[a-z-]{1,12}$/),
  fc.constantFrom(
    'a\r\nx: y',
    'a\nb',
    '\r',
    '\0',
    'a b',
    'a:',
    '\x7f',
    '\x80',
    '\xff',
    '\u0130',
    '\ud800',
    '\t',
    ' a',
    '',
  ),
);
// Bytes beyond ASCII pass through unchanged in a target; node rejects them.
const anyTarget = anyText.map((text) => text.replace(/[\x7f-\xff]/g, 'x'));
const reserved = /^(content-length|transfer-encoding|connection|upgrade|host|expect)$/i;

test('formats exactly one request with the given names, values and target, or throws', () => {
  let sent = 0;
  fc.assert(
    fc.property(
      anyTarget,
      fc.array(fc.tuple(anyText, anyText), { maxLength: 4 }),
      fc.nat(3),
      (path, headers, length) => {
        fc.pre(!headers.some(([name]) => reserved.test(name)));
        let head: string;
        try {
          head = formatRequestHead('POST', `/${path}`, 'api.example.com:8443', headers.flat(), length, false);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidRequestError);
          expect((error as Error).message).not.toMatch(/[\r\n\0\x7f-\uffff]/);
          return;
        }
        sent++;
        const bytes = Buffer.from(head, 'latin1');
        expect(bytes.toString('latin1')).toBe(head); // each character is one byte
        const found = parseRequestsWithNode(Buffer.concat([bytes, Buffer.alloc(length, 'b')]));
        const given = headers.flatMap(([name, value]) => [name, value.replace(/^[ \t]+|[ \t]+$/g, '')]);
        expect(found).toEqual([
          {
            target: `/${path}`,
            headers: [
              'host',
              'api.example.com:8443',
              'connection',
              'keep-alive',
              ...given,
              'content-length',
              `${length}`,
            ],
          },
        ]);
      },
    ),
    { numRuns: 3_000 }, // one in ten is formatted
  );
  expect(sent).toBeGreaterThan(300);
});

test.each([
  ['GET', null, -1],
  ['HEAD', null, -1],
  ['DELETE', Buffer.alloc(0), -1],
  ['OPTIONS', null, -1],
  ['POST', null, 0],
  ['PUT', Buffer.alloc(0), 0],
  ['PATCH', null, 0],
  ['GET', Buffer.from('a'), 1],
  ['DELETE', Buffer.from('ab'), 2],
])('contentLengthOf %s with %o', (method, body, length) => {
  expect(contentLengthOf(method, body)).toBe(length);
});
