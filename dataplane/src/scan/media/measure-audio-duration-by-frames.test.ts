import { expect, test } from 'vitest';
import { measureAudioSeconds } from './measure-audio-duration-by-frames.js';

/** 128 kbit/s at 44.1 kHz: 417 bytes for 1 152 samples. */
const FRAME = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(413)]);
/** 8 kbit/s at 8 kHz, MPEG-2.5: 72 bytes for 576 samples. */
const SLOW_FRAME = Buffer.concat([Buffer.from([0xff, 0xe3, 0x18, 0xc4]), Buffer.alloc(68)]);
const frames = (frame: Buffer, count: number): Buffer => Buffer.concat(Array.from({ length: count }, () => frame));
const id3 = (bytes: number): Buffer =>
  Buffer.concat([Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, bytes >> 7, bytes & 127]), Buffer.alloc(bytes)]);

function wav(kind: number, samplesPerSecond: number, bits: number, seconds: number, declared?: number): Buffer {
  const data = Buffer.alloc((samplesPerSecond * bits * seconds) / 8);
  const head = Buffer.alloc(44);
  head.write('RIFF');
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(kind, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(samplesPerSecond, 24);
  head.writeUInt16LE(bits, 34);
  head.write('data', 36);
  head.writeUInt32LE(declared ?? data.length, 40);
  return Buffer.concat([head, data]);
}

test.each<[string, Buffer, number | null]>([
  ['an MP3', frames(FRAME, 1_000), Math.ceil((1_000 * 1_152) / 44_100)],
  ['an MP3 of the lowest rate', frames(SLOW_FRAME, 1_000), 72],
  ['an MP3 with tags', Buffer.concat([id3(300), frames(FRAME, 100), Buffer.from(`TAG${' '.repeat(125)}`)]), 3],
  ['an MP3 with a frame that was cut off', frames(FRAME, 100).subarray(0, -100), 3],
  ['a WAV', wav(1, 16_000, 16, 5), 5],
  ['a WAV whose length was not known', wav(1, 8_000, 8, 7, 0xffffffff), 7],
  ['a WAV of one sample a second', wav(1, 1, 8, 1_000), 1_000],
  ['a WAV that is packed', wav(2, 16_000, 16, 5), null],
  ['a WAV of no rate', wav(1, 0, 8, 0), null],
  ['a FLAC', Buffer.from('fLaC'.padEnd(100)), null],
  ['a FLAC behind a tag', Buffer.concat([id3(10), Buffer.from('fLaC'.padEnd(100))]), null],
  ['an MP3 with something else behind it', Buffer.concat([frames(FRAME, 10), Buffer.alloc(50_000)]), null],
  ['nothing', Buffer.alloc(0), null],
])('measures %s', (_what, file, seconds) => {
  expect(measureAudioSeconds(file)).toBe(seconds);
});
