/** Small valid files that are expensive for a vendor: single-colour pictures, PDFs and silent audio. */
import { crc32, deflateSync } from 'node:zlib';

/** A white picture; 6000 x 4000 px are 3 KB. */
export function createPng(width: number, height: number): Buffer {
  const known = pngCache.get(`${width}x${height}`);
  if (known !== undefined) return known;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 1; // one bit per pixel, greyscale
  const rows = Buffer.alloc((Math.ceil(width / 8) + 1) * height, 0xff);
  for (let row = 0; row < height; row++) rows[row * (Math.ceil(width / 8) + 1)] = 0;
  const chunks = [
    encodePngChunk('IHDR', header),
    encodePngChunk('IDAT', deflateSync(rows, { level: 9 })),
    encodePngChunk('IEND', Buffer.alloc(0)),
  ];
  const file = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...chunks]);
  pngCache.set(`${width}x${height}`, file);
  return file;
}

const pngCache = new Map<string, Buffer>();

function encodePngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const around = Buffer.alloc(8);
  around.writeUInt32BE(data.length, 0);
  around.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)]);
}

/** `pages` pages that all show the same `words` words; `packed`: compressed, as in nearly all PDFs. */
export function createPdf(pages: number, words: number, packed: boolean): Buffer {
  const content = Buffer.from(`BT /F1 6 Tf 10 10 Td (${'word '.repeat(words)}) Tj ET`, 'latin1');
  const stream = packed ? deflateSync(content) : content;
  const filter = packed ? ' /Filter /FlateDecode' : '';
  const ids = Array.from({ length: pages }, (_, page) => page + 4);
  const objects = [
    '1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n',
    `2 0 obj\n<< /Type /Pages /Count ${pages} /Kids [${ids.map((id) => `${id} 0 R`).join(' ')}] >>\nendobj\n`,
    `3 0 obj\n<< /Length ${stream.length}${filter} >>\nstream\n${stream.toString('latin1')}\nendstream\nendobj\n`,
    ...ids.map((id) => `${id} 0 obj\n<< /Type /Page /Parent 2 0 R /Contents 3 0 R >>\nendobj\n`),
  ];
  return Buffer.from(`%PDF-1.4\n${objects.join('')}trailer\n<< /Root 1 0 R >>\n%%EOF\n`, 'latin1');
}

/** Silence at 8 kHz with 8 bits. */
export function createWav(seconds: number): Buffer {
  const rate = 8_000;
  const file = Buffer.alloc(44 + seconds * rate, 0x80);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 1],
    [34, 8],
  ] as const)
    file.writeUInt16LE(value, at);
  for (const [at, value] of [
    [16, 16],
    [24, rate],
    [28, rate],
    [40, seconds * rate],
  ] as const) {
    file.writeUInt32LE(value, at);
  }
  file.write('data', 36, 'latin1');
  return file;
}

const FLAC_BLOCK = 4_096;
const FLAC_RATE = 8_000;

/** Silence at 8 kHz with 16 bits: constant subframes of RFC 9639, 25 bytes per second. */
export function createFlac(seconds: number): Buffer {
  const frames = Math.ceil((seconds * FLAC_RATE) / FLAC_BLOCK);
  const info = Buffer.alloc(42);
  info.write('fLaC', 0, 'latin1');
  info.writeUInt32BE(0x80000022, 4); // the only metadata block, 34 bytes
  info.writeUInt16BE(FLAC_BLOCK, 8);
  info.writeUInt16BE(FLAC_BLOCK, 10);
  const samples = BigInt(frames * FLAC_BLOCK);
  info.writeBigUInt64BE((BigInt(FLAC_RATE) << 44n) | (15n << 36n) | samples, 18);
  return Buffer.concat([info, ...Array.from({ length: frames }, (_, frame) => encodeSilentFlacFrame(frame))]);
}

function encodeSilentFlacFrame(frame: number): Buffer {
  // 4096 samples, 8 kHz, one channel, 16 bits; the frame number in the coding of UTF-8.
  const header = Buffer.concat([Buffer.from([0xff, 0xf8, 0xc4, 0x08]), Buffer.from(String.fromCodePoint(frame))]);
  const body = Buffer.concat([header, Buffer.from([crc(header, 0x07, 8), 0x00, 0x00, 0x00])]);
  const sum = crc(body, 0x8005, 16);
  return Buffer.concat([body, Buffer.from([sum >> 8, sum & 0xff])]);
}

function crc(bytes: Buffer, polynomial: number, bits: number): number {
  const top = 1 << (bits - 1);
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << (bits - 8);
    for (let i = 0; i < 8; i++) sum = (sum & top ? (sum << 1) ^ polynomial : sum << 1) & ((1 << bits) - 1);
  }
  return sum;
}
