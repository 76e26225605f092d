import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestScanner, scanRequest } from './request-scanner.js';

const FORM_TYPE = 'multipart/form-data; boundary=----formdata-undici-0123';
const part = (head: string, value: string): string => `------formdata-undici-0123\r\n${head}\r\n\r\n${value}\r\n`;
const form = (...parts: string[]): Buffer => Buffer.from(`${parts.join('')}------formdata-undici-0123--\r\n`);
const file = (content: string): string =>
  part('Content-Disposition: form-data; name="file"; filename="a.mp3"\r\nContent-Type: audio/mpeg', content);
const model = (name: string): string => part('Content-Disposition: form-data; name="model"', name);

describe('RequestScanner', () => {
  it('reads model and stream of a JSON body and ignores strings and nested objects', () => {
    const body = '{"messages":[{"model":"no","content":"\\"model\\":\\"no\\""}],"stream":true,"model":"gpt-5-mini"}';
    expect(scanRequest(Buffer.from(body), 'application/json')).toEqual({
      model: 'gpt-5-mini',
      streamed: true,
      itemCount: 0,
      requestedOutput: null,
      blobBytes: 0,
    });
  });

  it('counts the e-mails of a batch', () => {
    const body = '[{"to":["a@x","b@x"],"html":"<p>"},{"to":"c@x","html":"[{}]"}]';
    expect(scanRequest(Buffer.from(body), 'application/json').itemCount).toBe(2);
  });

  it('distinguishes packed data from text', () => {
    const blobBytes = (text: string): number => scanRequest(Buffer.from(JSON.stringify({ x: [text] })), null).blobBytes;
    const image = Buffer.alloc(30_000, 7).toString('base64');
    expect(blobBytes(`data:image/png;base64,${image}`)).toBeGreaterThan(39_900);
    expect(blobBytes('All work and no play makes Jack a dull boy. '.repeat(500))).toBe(0);
    expect(blobBytes('中文没有空格'.repeat(2_000))).toBe(0);
    expect(blobBytes('x'.repeat(1_000))).toBe(0);
  });

  const forms: [string, Buffer, string | null][] = [
    ['before the file', form(model('whisper-1'), file('ID3')), 'whisper-1'],
    ['after the file', form(file('ID3'), model('whisper-1')), 'whisper-1'],
    ['after an empty field', form(part('Content-Disposition: form-data; name="x"', ''), model('m')), 'm'],
    [
      'with another header',
      form(part('Content-Type: text/plain\r\ncontent-disposition: form-data; name=model', 'm')),
      'm',
    ],
    ['a file that looks like the field', form(file('Content-Disposition: form-data; name="model"\r\n\r\nm\r\n')), null],
    ['other names', form(part('Content-Disposition: form-data; name="model2"; x="model"', 'm')), null],
    ['two different fields', form(model('a'), model('b')), null],
    ['two equal fields', form(model('a'), model('a')), 'a'],
    ['an endless header', form(part(`X: ${'y'.repeat(3000)}`, 'z'), model('m')), 'm'],
  ];
  it.each(forms)('reads the model of a form: %s', (_name, body, expected) => {
    expect(scanRequest(body, FORM_TYPE).model).toBe(expected);
    fc.assert(
      fc.property(fc.array(fc.nat(4000), { maxLength: 30 }), (cuts) => {
        const scanner = new RequestScanner(FORM_TYPE);
        const edges = [0, ...cuts.map((cut) => cut % (body.length + 1)).sort((a, b) => a - b), body.length];
        for (let i = 1; i < edges.length; i++) scanner.observe(body.subarray(edges[i - 1], edges[i]));
        expect(scanner.facts().model).toBe(expected);
      }),
    );
    const scanner = new RequestScanner(FORM_TYPE);
    for (const byte of body) scanner.observe(Buffer.from([byte]));
    expect(scanner.facts().model).toBe(expected);
  });
});
