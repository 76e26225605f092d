import { expect, test } from 'vitest';
import { parseStrictBoundary, parseStrictMultipart } from './strict-multipart-parser.js';

const B = 'b0undary';
const part = (head: string, value: string): string => `--${B}\r\n${head}\r\n\r\n${value}\r\n`;
const named = (name: string, value: string): string => part(`Content-Disposition: form-data; name="${name}"`, value);
const form = (...parts: string[]): Buffer => Buffer.from(`${parts.join('')}--${B}--\r\n`, 'latin1');
const file = part(
  'Content-Disposition: form-data; name="file"; filename="a.mp3"\r\nContent-Type: audio/mpeg',
  'a\r\nb--x',
);

test('parses fields and files in their order', () => {
  expect(parseStrictMultipart(form(named('model', 'whisper-1'), file, named('language', 'de')), B)).toEqual([
    { name: 'model', value: 'whisper-1', bytes: Buffer.from('whisper-1') },
    { name: 'file', value: null, bytes: Buffer.from('a\r\nb--x') },
    { name: 'language', value: 'de', bytes: Buffer.from('de') },
  ]);
});

test('parses the forms of standard clients', async () => {
  const data = new FormData();
  data.set('model', 'gpt-image-1');
  data.set('image', new Blob(['png'], { type: 'image/png' }), 'a "b".png');
  const request = new Request('http://x', { method: 'POST', body: data });
  const boundary = parseStrictBoundary(request.headers.get('content-type')!)!;
  const fields = parseStrictMultipart(Buffer.from(await request.arrayBuffer()), boundary);
  expect(fields).toEqual([
    { name: 'model', value: 'gpt-image-1', bytes: Buffer.from('gpt-image-1') },
    { name: 'image', value: null, bytes: Buffer.from('png') },
  ]);
});

test.each<[string, Buffer]>([
  [
    'a boundary without CRLF before it',
    Buffer.from(`--${B}\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\n--${B}--`),
  ],
  ['a boundary inside a value', form(named('a', `x--${B}\r\n`))],
  ['text after the last boundary', Buffer.concat([form(named('a', '1')), Buffer.from(named('model', 'x'))])],
  ['a name twice in one part', form(part('Content-Disposition: form-data; name="a"; name="model"', 'x'))],
  ['an unquoted name', form(part('Content-Disposition: form-data; name=model', 'x'))],
  ['an escaped quote in a name', form(part('Content-Disposition: form-data; name="a\\"; name="model"', 'x'))],
  ['a name of another charset', form(part("Content-Disposition: form-data; name*=utf-8''model", 'x'))],
  [
    'two dispositions',
    form(part('Content-Disposition: form-data; name="a"\r\nContent-Disposition: form-data; name="model"', 'x')),
  ],
  [
    'a part with an encoding',
    form(part('Content-Disposition: form-data; name="model"\r\nContent-Transfer-Encoding: base64', 'eA==')),
  ],
  ['a folded header', form(part('Content-Disposition: form-data;\r\n name="model"', 'x'))],
  ['a header that ends in LF', form(part('Content-Disposition: form-data; name="a"\nX: y', 'x'))],
  ['no blank line', form(`--${B}\r\nContent-Disposition: form-data; name="a"\r\n`)],
])('rejects %s as ambiguous', (_what, body) => {
  expect(parseStrictMultipart(body, B)).toBe('ambiguous');
});

test.each<[string, Buffer]>([
  ['text before the first boundary', Buffer.concat([Buffer.from('x\r\n'), form(named('a', '1'))])],
  ['no end', Buffer.from(named('a', '1'))],
  ['JSON', Buffer.from('{"model":"x"}')],
  ['a boundary with further characters', Buffer.from(`--${B}x\r\n\r\n\r\n--${B}--`)],
  ['nothing', Buffer.alloc(0)],
])('rejects %s', (_what, body) => {
  expect(['not_form', 'ambiguous']).toContain(parseStrictMultipart(body, B));
});

test.each([
  ['multipart/form-data; boundary=abc', 'abc'],
  ['multipart/form-data; boundary="a b"', 'a b'],
  ['multipart/form-data; boundary=abc; boundary=def', null],
  ['multipart/form-data; charset=utf-16; boundary=abc', null],
  ['multipart/mixed; boundary=abc', null],
  ['application/json', null],
  ['multipart/form-data', null],
])('reads from %s the boundary %s', (type, boundary) => {
  expect(parseStrictBoundary(type)).toBe(boundary);
});
