/**
 * Measures the duration of a recording from its own bytes: MP3 frame by frame, and uncompressed WAV. Null for every
 * other format, because its size does not bound the duration: a minute of silence can be compressed to a few bytes.
 */

/** MP3, MPEG-1, -2 and -2.5: kbit/s by index, samples per second by index, samples per frame. */
const KBITS_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const KBITS_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const RATES: Readonly<Record<number, readonly number[]>> = {
  3: [44_100, 48_000, 32_000],
  2: [22_050, 24_000, 16_000],
  0: [11_025, 12_000, 8_000],
};
const MPEG_1 = 3;
const LAYER_3 = 1;
/** Bytes allowed after the last frame: a tag, or a frame that was cut off. */
const TAIL_BYTES_MAX = 4_096;
/** WAV formats with a fixed number of bytes per sample: PCM, float, A-law and µ-law. */
const UNCOMPRESSED_WAV_FORMATS: ReadonlySet<number> = new Set([1, 3, 6, 7]);
const EXTENSIBLE = 0xfffe;

/** Duration in seconds, rounded up; null when the file does not tell it. */
export function measureAudioSeconds(file: Buffer): number | null {
  if (file.toString('latin1', 0, 4) === 'RIFF' && file.toString('latin1', 8, 12) === 'WAVE')
    return measureWavSeconds(file);
  return measureMp3Seconds(file, skipId3Tag(file));
}

function measureMp3Seconds(file: Buffer, start: number): number | null {
  let seconds = 0;
  let at = start;
  while (at + 4 <= file.length) {
    const frame = parseMp3Frame(file, at);
    if (frame === null) break;
    seconds += frame.seconds;
    at += frame.bytes;
  }
  const isWhole = seconds > 0 && file.length - at <= TAIL_BYTES_MAX;
  return isWhole ? Math.ceil(Number(seconds.toFixed(6))) : null; // rounds away the error of the sum
}

function parseMp3Frame(file: Buffer, at: number): { readonly bytes: number; readonly seconds: number } | null {
  const [first, second, third] = [file[at]!, file[at + 1]!, file[at + 2]!];
  if (first !== 0xff || (second & 0xe0) !== 0xe0 || ((second >> 1) & 3) !== LAYER_3) return null;
  const version = (second >> 3) & 3;
  const rate = RATES[version]?.[(third >> 2) & 3];
  const kbits = (version === MPEG_1 ? KBITS_1 : KBITS_2)[third >> 4];
  if (rate === undefined || kbits === undefined || kbits === 0) return null;
  const samples = version === MPEG_1 ? 1_152 : 576;
  const bytes = Math.floor((samples / 8) * ((kbits * 1_000) / rate)) + ((third >> 1) & 1);
  return { bytes, seconds: samples / rate };
}

/** Index after an ID3v2 tag, whose length has seven bits per byte; 0 without a tag. */
function skipId3Tag(file: Buffer): number {
  if (file.length < 10 || file.toString('latin1', 0, 3) !== 'ID3') return 0;
  let length = 0;
  for (let i = 6; i < 10; i++) length = length * 128 + (file[i]! & 0x7f);
  return 10 + length;
}

function measureWavSeconds(file: Buffer): number | null {
  let bytesPerSecond = 0;
  for (let at = 12; at + 8 <= file.length; ) {
    const name = file.toString('latin1', at, at + 4);
    const length = file.readUInt32LE(at + 4);
    const content = at + 8;
    if (name === 'fmt ' && bytesPerSecond === 0 && content + 16 <= file.length)
      bytesPerSecond = parseWavBytesPerSecond(file, content);
    // A data length of an unfinished header is not reliable: counts the rest of the file.
    if (name === 'data') return bytesPerSecond === 0 ? null : Math.ceil((file.length - content) / bytesPerSecond);
    at = content + length + (length & 1);
  }
  return null;
}

/** Bytes per second of the format at `at`; 0 when it is compressed or invalid. */
function parseWavBytesPerSecond(file: Buffer, at: number): number {
  const kind = file.readUInt16LE(at);
  const isPlain =
    UNCOMPRESSED_WAV_FORMATS.has(kind) ||
    (kind === EXTENSIBLE && at + 26 <= file.length && UNCOMPRESSED_WAV_FORMATS.has(file.readUInt16LE(at + 24)));
  const channels = file.readUInt16LE(at + 2);
  const samplesPerSecond = file.readUInt32LE(at + 4);
  const bits = file.readUInt16LE(at + 14);
  return isPlain ? Math.floor((samplesPerSecond * channels * bits) / 8) : 0;
}
