import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AwsChunkedDecoder } from './aws-chunked-decoder.js';
import { crc32c, createChecksum } from './s3-checksum.js';

const SIGNATURE = `;chunk-signature=${'ab'.repeat(32)}`;

const crc = (value: number): string => {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value >>> 0);
  return out.toString('base64');
};

function encodeChunked(data: Buffer, sizes: readonly number[], signed: boolean, trailer: string): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const size of [...sizes, data.length]) {
    const piece = data.subarray(at, at + size);
    at += piece.length;
    if (piece.length === 0) continue;
    parts.push(Buffer.from(`${piece.length.toString(16)}${signed ? SIGNATURE : ''}\r\n`), piece, Buffer.from('\r\n'));
  }
  parts.push(Buffer.from(`0${signed ? SIGNATURE : ''}\r\n${trailer}\r\n`));
  return Buffer.concat(parts);
}

function decode(framed: Buffer, cuts: readonly number[], length: number, trailer: string): Buffer | string {
  const decoder = new AwsChunkedDecoder(length, trailer);
  const out: Buffer[] = [];
  const emit = (data: Buffer): void => void out.push(Buffer.from(data));
  let from = 0;
  for (const at of [...[...cuts].sort((a, b) => a - b), framed.length]) {
    if (!decoder.push(framed.subarray(from, at), emit)) return decoder.problem!;
    from = at;
  }
  return decoder.finish(emit) ? Buffer.concat(out) : decoder.problem!;
}

test('decodes and verifies any data in any chunk sizes and arrival', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.array(fc.integer({ min: 1, max: 64 }), { maxLength: 6 }),
      fc.array(fc.nat(900), { maxLength: 12 }),
      fc.boolean(),
      (bytes, sizes, cuts, signed) => {
        const data = Buffer.from(bytes);
        const trailer = `x-amz-checksum-crc32:${crc(crc32(data))}\r\n`;
        const framed = encodeChunked(data, sizes, signed, trailer);
        const at = cuts.map((cut) => Math.min(cut, framed.length));
        expect(decode(framed, at, data.length, 'x-amz-checksum-crc32')).toEqual(data);
      },
    ),
  );
});

const DATA = Buffer.from('hello object');

test.each([
  ['x-amz-checksum-crc32', crc(crc32(DATA))],
  ['x-amz-checksum-crc32c', crc(crc32c(DATA, 0))],
  ['x-amz-checksum-sha1', createHash('sha1').update(DATA).digest('base64')],
  ['x-amz-checksum-sha256', createHash('sha256').update(DATA).digest('base64')],
])('verifies %s', (name, value) => {
  const right = encodeChunked(DATA, [5], true, `${name}:${value}\r\nx-amz-trailer-signature:${'0'.repeat(64)}\r\n`);
  expect(decode(right, [], DATA.length, name)).toEqual(DATA);
  const wrong = encodeChunked(DATA, [5], true, `${name}:AAAAAA==\r\n`);
  expect(decode(wrong, [], DATA.length, name)).toBe(`${name} does not match the body`);
  expect(decode(encodeChunked(DATA, [5], true, ''), [], DATA.length, name)).toBe(`the trailer ${name} is missing`);
});

test('computes the published check values of CRC-64/NVME and CRC-32C', () => {
  const crc64 = createChecksum('x-amz-checksum-crc64nvme')!;
  for (const part of ['1234', '', '56789']) crc64.update(Buffer.from(part));
  expect(Buffer.from(crc64.digest(), 'base64').toString('hex')).toBe('ae8b14860a799888'); // CRC-64/NVME check value
  expect(crc32c(Buffer.from('123456789'), 0)).toBe(0xe3069283); // check value of the CRC-32C catalogue entry
});

test('accepts an empty line before the trailer signature', () => {
  const trailer = `x-amz-checksum-crc32:${crc(crc32(DATA))}\n\r\nx-amz-trailer-signature:00\r\n`;
  expect(decode(encodeChunked(DATA, [], true, trailer), [], DATA.length, 'x-amz-checksum-crc32')).toEqual(DATA);
});

test.each([
  ['5\r\nhello\r\n0\r\n\r\n', 6, 'shorter'],
  ['5\r\nhello\r\n0\r\n\r\n', 4, 'longer'],
  ['5\r\nhello\r\n', 5, 'incomplete'],
  ['5\r\nhel', 5, 'incomplete'],
  ['5\r\nhello!\r\n0\r\n\r\n', 5, 'longer than its announced size'],
  ['5\nhello\r\n0\r\n\r\n', 5, 'no CR LF'],
  ['g\r\nhello\r\n0\r\n\r\n', 5, 'malformed'],
  ['\r\nhello', 5, 'malformed'],
  ['-5\r\nhello', 5, 'malformed'],
  ['ffffffffffffffff\r\n', 5, 'malformed'],
  [`5;${'x'.repeat(300)}\r\nhello\r\n0\r\n\r\n`, 5, 'too long'],
  [`5\r\nhello\r\n0\r\n${'x-a: 1\r\n'.repeat(400)}\r\n`, 5, 'too long'],
  ['5\r\nhello\r\n0\r\n\r\nmore\r\n', 5, 'bytes after the end'],
])('rejects %j announced as %i bytes', (framed, length, problem) => {
  expect(decode(Buffer.from(framed), [], length, '')).toContain(problem);
});

test('holds back the last byte until the trailing checksum is verified', () => {
  const decoder = new AwsChunkedDecoder(DATA.length, 'x-amz-checksum-crc32');
  let out = '';
  const emit = (data: Buffer): void => {
    out += data.toString();
  };
  expect(decoder.push(encodeChunked(DATA, [], false, 'x-amz-checksum-crc32:AAAAAA==\r\n'), emit)).toBe(false);
  expect(decoder.finish(emit)).toBe(false);
  expect(out).toBe('hello objec');
});
