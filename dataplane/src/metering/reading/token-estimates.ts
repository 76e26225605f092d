/**
 * Token counts where a 2xx call has no usage: cut off by client, provider or shutdown, or never sent. Text runs at
 * about 4 bytes a token (against o200k: English +1 %, German +2 %, Chinese +3 %, code −13 %; measured 2026-11-20).
 * A real tokenizer is not used: all of them are quadratic on repeated characters, so an agent could stop the gateway.
 */

import { TOKENS_MAX } from './usage-counts.js';
import type { MeterOptions } from './usage-meter.js';

const TEXT_BYTES_PER_TOKEN = 4;
/** Speech: $0.015 a minute at $12 per MTok is 1 250 tokens for about 0.5 MB of default MP3 (gpt-4o-mini-tts). */
const AUDIO_BYTES_PER_TOKEN = 400;
/** The same of PCM and WAV, 24 kHz with 16 bits: exact, however it is spoken. */
const PCM_BYTES_PER_TOKEN = (60 * 48_000) / 1_250;
/** A minute has about 208 tokens of text: 877 of them became 256 s (s-anand.net, 2025-11). */
const SPOKEN_TOKENS_PER_TEXT_TOKEN = 6;
const PCM_TYPE = /^audio\/(?:x-)?(?:pcm|wave?|l16)\b/i;

/** An image of 500 kB in base64 is about 1 500 tokens, a page of a PDF of 100 kB about 2 000: something between. */
const BLOB_BYTES_PER_TOKEN = 100;
/** Heard audio: $0.006 a minute at $6 per MTok is 1 000 tokens a minute (gpt-4o-transcribe), taken at 64 kbit/s. */
const AUDIO_IN_BYTES_PER_SECOND = 8_000;
const AUDIO_IN_BYTES_PER_TOKEN = 480;
export const AUDIO_IN_TOKENS_PER_SECOND = AUDIO_IN_BYTES_PER_SECOND / AUDIO_IN_BYTES_PER_TOKEN;
/** One square image in high quality (gpt-image-1), and the longest prompt with a picture in it. */
export const IMAGE_TOKENS_OUT = 4_160;
export const IMAGE_TOKENS_IN_MAX = 4_000;

export const estimateAudioSeconds = (bytes: number): number => Math.ceil(bytes / AUDIO_IN_BYTES_PER_SECOND);
export const estimateAudioTokens = (bytes: number): number =>
  Math.min(TOKENS_MAX, Math.ceil(bytes / AUDIO_IN_BYTES_PER_TOKEN));
export const estimateTextTokens = (bytes: number): number =>
  Math.min(TOKENS_MAX, Math.ceil(bytes / TEXT_BYTES_PER_TOKEN));

/**
 * Tokens of spoken audio. Packed formats differ tenfold in bytes a second, so there the text says how long it is; at least
 * what the bytes would be as PCM, which no format exceeds.
 */
export function estimateSpeechTokens(
  bytes: number,
  { contentType, requestedOutput: requestOrder }: MeterOptions,
): number {
  const asPcm = Math.ceil(bytes / PCM_BYTES_PER_TOKEN);
  const ofText = SPOKEN_TOKENS_PER_TEXT_TOKEN * estimateTextTokens(requestOrder?.textBytes ?? 0);
  let tokens = Math.ceil(bytes / AUDIO_BYTES_PER_TOKEN);
  if (PCM_TYPE.test(contentType ?? '')) tokens = asPcm;
  else if (ofText > 0) tokens = Math.max(ofText, asPcm);
  return Math.min(TOKENS_MAX, tokens);
}

/** Input of a request of which `blobBytes` are packed data. */
export const estimateRequestTokens = (bytes: number, blobBytes: number): number =>
  estimateTextTokens(Math.max(0, bytes - blobBytes)) + Math.ceil(Math.min(bytes, blobBytes) / BLOB_BYTES_PER_TOKEN);

/** Rough yield of a compressed body: text unfolds about threefold, an event stream (all envelope) tenfold. */
export const estimateCompressedTextTokens = (bytes: number): number => estimateTextTokens(bytes * 3);
export const estimateCompressedEventTokens = (bytes: number): number => Math.min(TOKENS_MAX, Math.ceil(bytes / 25));

/** The longest video that can be asked for at once. */
export const VIDEO_SECONDS_MAX = 20;
export const isVideoPath = (path: string): boolean => path.includes('/videos');
export const isSpeechPath = (path: string): boolean => path.endsWith('/audio/speech');
export const isImagePath = (path: string): boolean => path.includes('/images/');

const PLAIN_PATH = /^(?:\/[a-z0-9_.-]+)+$/;

/** The path as a provider may understand it: decoded, single slashes, lower case, no trailing slash. */
export function normalizePath(path: string): string {
  if (PLAIN_PATH.test(path)) return path;
  let decoded = path;
  if (path.includes('%')) {
    try {
      decoded = decodeURIComponent(path);
    } catch {
      // kept as it is: the provider will hardly route what does not decode
    }
  }
  const parts = decoded.toLowerCase().split('/');
  return '/' + parts.filter((part) => part !== '').join('/');
}
