/**
 * Estimates of token counts for 2xx calls without usage: truncated by client, provider or shutdown, or never sent. Text
 * has about 4 bytes per token (against o200k: English +1 %, German +2 %, Chinese +3 %, code −13 %; measured
 * 2026-11-20). No real tokenizer is used: all are quadratic on repeated characters, so a client could block the
 * gateway.
 */

import { TOKENS_MAX } from './provider-usage-to-token-counts.js';
import type { MeterOptions } from './response-usage-meter-interface.js';

const TEXT_BYTES_PER_TOKEN = 4;
/**
 * Generated speech: $0.015 a minute at $12 per MTok is 1 250 tokens for about 0.5 MB of default MP3 (gpt-4o-mini-tts).
 */
const AUDIO_BYTES_PER_TOKEN = 400;
/** The same for PCM and WAV, 24 kHz with 16 bits: exact, whatever the speaking rate. */
const PCM_BYTES_PER_TOKEN = (60 * 48_000) / 1_250;
/** A spoken minute has about 208 text tokens: 877 of them became 256 s (s-anand.net, 2025-11). */
const SPOKEN_TOKENS_PER_TEXT_TOKEN = 6;
const PCM_TYPE = /^audio\/(?:x-)?(?:pcm|wave?|l16)\b/i;

/** An image of 500 kB in base64 is about 1 500 tokens, a PDF page of 100 kB about 2 000; this is between the two. */
const BLOB_BYTES_PER_TOKEN = 100;
/** Audio input: $0.006 a minute at $6 per MTok is 1 000 tokens a minute (gpt-4o-transcribe), assuming 64 kbit/s. */
const AUDIO_IN_BYTES_PER_SECOND = 8_000;
const AUDIO_IN_BYTES_PER_TOKEN = 480;
export const AUDIO_IN_TOKENS_PER_SECOND = AUDIO_IN_BYTES_PER_SECOND / AUDIO_IN_BYTES_PER_TOKEN;
/** One square image in high quality (gpt-image-1), and the longest prompt that contains an image. */
export const IMAGE_TOKENS_OUT = 4_160;
export const IMAGE_TOKENS_IN_MAX = 4_000;

export const estimateAudioSeconds = (bytes: number): number => Math.ceil(bytes / AUDIO_IN_BYTES_PER_SECOND);
export const estimateAudioTokens = (bytes: number): number =>
  Math.min(TOKENS_MAX, Math.ceil(bytes / AUDIO_IN_BYTES_PER_TOKEN));
export const estimateTextTokens = (bytes: number): number =>
  Math.min(TOKENS_MAX, Math.ceil(bytes / TEXT_BYTES_PER_TOKEN));

/**
 * Tokens of generated speech. Compressed formats differ tenfold in bytes per second, so there the text length decides.
 * The result is at least the PCM estimate of the bytes, because no format has more bytes per second.
 */
export function estimateSpeechTokens(bytes: number, { contentType, requestedOutput }: MeterOptions): number {
  const pcmTokens = Math.ceil(bytes / PCM_BYTES_PER_TOKEN);
  const textTokens = SPOKEN_TOKENS_PER_TEXT_TOKEN * estimateTextTokens(requestedOutput?.textBytes ?? 0);
  let tokens = Math.ceil(bytes / AUDIO_BYTES_PER_TOKEN);
  if (PCM_TYPE.test(contentType ?? '')) tokens = pcmTokens;
  else if (textTokens > 0) tokens = Math.max(textTokens, pcmTokens);
  return Math.min(TOKENS_MAX, tokens);
}

/** Input tokens of a request; `blobBytes` of its bytes are packed data. */
export const estimateRequestTokens = (bytes: number, blobBytes: number): number =>
  estimateTextTokens(Math.max(0, bytes - blobBytes)) + Math.ceil(Math.min(bytes, blobBytes) / BLOB_BYTES_PER_TOKEN);

/** Rough expansion of a compressed body: text expands about threefold, an event stream (mostly envelope) tenfold. */
export const estimateCompressedTextTokens = (bytes: number): number => estimateTextTokens(bytes * 3);
export const estimateCompressedEventTokens = (bytes: number): number => Math.min(TOKENS_MAX, Math.ceil(bytes / 25));

/** The longest video that one request can order, seconds. */
export const VIDEO_SECONDS_MAX = 20;
export const isVideoPath = (path: string): boolean => path.includes('/videos');
export const isSpeechPath = (path: string): boolean => path.endsWith('/audio/speech');
export const isImagePath = (path: string): boolean => /\/images(?:\/|$)/.test(path);

/** A call of Anthropic's that generates. Vertex AI has the same calls under `…/models/claude-…:rawPredict`. */
export const isMessagePath = (path: string): boolean =>
  /\/(?:messages|complete)$/.test(path) || (/:(?:stream)?rawpredict$/.test(path) && !path.includes('/count-tokens:'));

const PLAIN_PATH = /^(?:\/[a-z0-9_.-]+)+$/;

/** The path as a provider may interpret it: decoded, single slashes, lower case, no trailing slash. */
export function normalizePath(path: string): string {
  if (PLAIN_PATH.test(path)) return path;
  let decoded = path;
  if (path.includes('%')) {
    try {
      decoded = decodeURIComponent(path);
    } catch {
      // keep it unchanged: a provider will hardly route a path that does not decode
    }
  }
  const parts = decoded.toLowerCase().split('/');
  return '/' + parts.filter((part) => part !== '').join('/');
}
