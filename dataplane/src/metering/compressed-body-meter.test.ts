import { randomBytes } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { CompressedBodyMeter } from './bodies/compressed-body-meter.js';
import type { BodyMeter, UsageReading } from './reading/response-usage-meter-interface.js';

/** Records its chunks and the event-loop tick of each. */
class Recorder implements BodyMeter {
  readonly pieces: { bytes: number; tick: number }[] = [];
  tick = 0;
  unread = 0;
  complete: boolean | null = null;
  #running = true;

  constructor() {
    const next = (): void => {
      this.tick++;
      if (this.#running) setImmediate(next);
    };
    setImmediate(next);
  }
  get bytes(): number {
    return this.pieces.reduce((sum, piece) => sum + piece.bytes, 0);
  }
  observe(chunk: Buffer): void {
    this.pieces.push({ bytes: chunk.length, tick: this.tick });
  }
  get tokensOutSeen(): number {
    return this.bytes;
  }
  skipUndecodable(encodedBytes: number): void {
    this.unread = encodedBytes;
  }
  finish(complete: boolean): UsageReading {
    this.#running = false;
    this.complete = complete;
    return {} as UsageReading;
  }
}

async function read(coding: string, encoded: Buffer, chunkBytes = encoded.length): Promise<Recorder> {
  const inner = new Recorder();
  const meter = new CompressedBodyMeter(coding, inner);
  for (let at = 0; at < encoded.length; at += chunkBytes) meter.observe(encoded.subarray(at, at + chunkBytes));
  await new Promise<void>((resolve) => {
    if (!meter.drain(resolve)) resolve();
  });
  meter.finish(true);
  return inner;
}

/** Repeats each KiB of noise ten times: compresses well, but not like a compression bomb. */
const prose = (bytes: number): Buffer => {
  const blocks = Array.from({ length: Math.ceil(bytes / 10_240) }, () => randomBytes(1_024));
  return Buffer.concat(blocks.flatMap((block) => new Array<Buffer>(10).fill(block))).subarray(0, bytes);
};

test.each([
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
] as const)('compressed: reads %s of some MiB completely, at most 64 KiB per tick', async (coding, compress) => {
  const inner = await read(coding, compress(prose(3 << 20)), 16_384);
  expect(inner.bytes).toBe(3 << 20);
  expect(inner.complete).toBe(true);
  const byTick = new Map<number, number>();
  for (const { bytes, tick } of inner.pieces) byTick.set(tick, (byTick.get(tick) ?? 0) + bytes);
  expect(Math.max(...byTick.values())).toBeLessThanOrEqual(65_536);
  expect(byTick.size).toBeGreaterThanOrEqual(48);
});

test.each([
  ['gzip of zeros', 'gzip', gzipSync(Buffer.alloc(64 << 20))],
  ['brotli of zeros', 'br', brotliCompressSync(Buffer.alloc(64 << 20))],
])('compressed: abandons %s after a hundred times its size', async (_name, coding, bomb) => {
  const inner = await read(coding, bomb);
  expect(inner.bytes).toBeLessThanOrEqual(Math.max(65_536, bomb.length * 100));
  expect(inner.unread).toBe(bomb.length);
  expect(inner.complete).toBe(false);
});

test('compressed: abandons a body beyond 8 MiB whatever its ratio', async () => {
  const inner = await read('gzip', gzipSync(prose(9 << 20)), 65_536);
  expect(inner.bytes).toBeLessThanOrEqual(8 << 20);
  expect(inner.complete).toBe(false);
});

test('compressed: reads a small repetitive response whatever its ratio', async () => {
  const inner = await read('gzip', gzipSync(Buffer.alloc(60_000)));
  expect(inner.bytes).toBe(60_000);
  expect(inner.complete).toBe(true);
});
