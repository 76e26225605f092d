import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FrameBuffer } from './frame-buffer.js';
import { FRAME_HEADER_BYTES, scanFrames, sealFrame } from './segment-format.js';

const ALL = { recordsMax: 1_000_000, framesMax: 1_000_000 };

function frame(payload: Buffer, records = 1): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(FRAME_HEADER_BYTES), payload]);
  sealFrame(bytes, 0, payload.length, records);
  return bytes;
}
const frames = ['first', 'second frame', '', 'the fourth'].map((text) => frame(Buffer.from(text)));
const segment = Buffer.concat(frames);
const texts = (scan: { payloads: readonly Buffer[] }) => scan.payloads.map(String);

test('segment: cut at any byte, reads exactly the whole frames before the cut', () => {
  for (let cut = 0; cut <= segment.length; cut++) {
    const scan = scanFrames(segment.subarray(0, cut), true, ALL);
    const expected: string[] = [];
    for (let i = 0, at = 0; i < frames.length; i++) {
      at += frames[i]!.length;
      if (at <= cut) expected.push(['first', 'second frame', '', 'the fourth'][i]!);
    }
    expect(texts(scan)).toEqual(expected);
    expect(scan.consumed).toBe(cut);
    expect(scan.damaged).toEqual([]); // a torn tail is not damage
  }
});

test('segment: with any one byte changed, reads all other frames and reports the damage', () => {
  for (let at = 0; at < segment.length; at++) {
    const broken = Buffer.from(segment);
    broken[at]! ^= 0x41;
    const scan = scanFrames(broken, true, ALL);
    let start = 0;
    const intact = frames
      .filter((bytes) => {
        const hit = at >= start && at < start + bytes.length;
        start += bytes.length;
        return !hit;
      })
      .map((bytes) => String(bytes.subarray(FRAME_HEADER_BYTES)));
    expect(texts(scan)).toEqual(intact);
    expect(scan.consumed).toBe(broken.length);
    expect(scan.damaged.length + (scan.tornBytes > 0 ? 1 : 0)).toBe(1);
  }
});

test('segment: reads the same frames with any chunk size', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 20 }), fc.integer(), (payloads, seed) => {
      const bytes = Buffer.concat(payloads.map((payload) => frame(Buffer.from(payload))));
      const window = 216 + (Math.abs(seed) % 300); // at least one whole frame
      const seen: string[] = [];
      for (let at = 0; at < bytes.length; ) {
        const end = Math.min(bytes.length, at + window);
        const scan = scanFrames(bytes.subarray(at, end), end === bytes.length, ALL);
        seen.push(...scan.payloads.map((payload) => payload.toString('hex')));
        expect(scan.consumed).toBeGreaterThan(0);
        at += scan.consumed;
      }
      expect(seen).toEqual(payloads.map((payload) => Buffer.from(payload).toString('hex')));
    }),
  );
});

test('segment: arbitrary bytes between frames neither hide a frame nor stop the reader', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 6 }), (noise) => {
      const bytes = Buffer.concat(noise.flatMap((bad, i) => [Buffer.from(bad), frame(Buffer.from(`frame ${i}`))]));
      const scan = scanFrames(bytes, true, ALL);
      expect(texts(scan)).toEqual(noise.map((_, i) => `frame ${i}`));
      expect(scan.consumed).toBe(bytes.length);
    }),
  );
});

test('segment: a frame cut at any byte waits for the next chunk', () => {
  const [first, second] = [frames[0]!, frames[1]!];
  for (let cut = 1; cut < second.length; cut++) {
    const scan = scanFrames(Buffer.concat([first, second.subarray(0, cut)]), false, ALL);
    expect([texts(scan), scan.consumed, scan.damaged]).toEqual([['first'], first.length, []]);
  }
});

test('segment: keeps the start of a frame behind damage for the next chunk', () => {
  for (let cut = 1; cut <= 3; cut++) {
    const noise = Buffer.alloc(20, 1);
    const scan = scanFrames(Buffer.concat([noise, frames[0]!.subarray(0, cut)]), false, ALL);
    expect(scan.consumed).toBeLessThanOrEqual(noise.length);
  }
});

test('segment: an impossible length is damage, not the start of a long frame', () => {
  const broken = Buffer.from(frames[0]!);
  broken.writeUInt32LE(0x7fff_ffff, 4);
  const scan = scanFrames(Buffer.concat([broken, frames[1]!]), false, ALL);
  expect([texts(scan), scan.damaged]).toEqual([['second frame'], [{ from: 0, to: broken.length }]]);
});

test('segment: a limit stops between frames but always admits one frame', () => {
  const three = Buffer.concat([frame(Buffer.from('a'), 5), frame(Buffer.from('b'), 5), frame(Buffer.from('c'), 5)]);
  expect(texts(scanFrames(three, true, { recordsMax: 10, framesMax: 9 }))).toEqual(['a', 'b']);
  expect(texts(scanFrames(three, true, { recordsMax: 1, framesMax: 9 }))).toEqual(['a']);
  expect(texts(scanFrames(three, true, { recordsMax: 99, framesMax: 1 }))).toEqual(['a']);
});

test('frame buffer: splits a large tick into several frames without loss', () => {
  const buffer = new FrameBuffer();
  const message = Buffer.alloc(10_000, 7);
  let added = 0;
  while (buffer.add(0x12, message)) added++;
  const scan = scanFrames(buffer.takeFrames(), true, ALL);
  expect(added).toBeGreaterThan(20);
  expect(scan.records).toBe(added);
  expect(scan.payloads.length).toBeGreaterThan(3);
  expect(buffer.takeFrames()).toHaveLength(0);
});
