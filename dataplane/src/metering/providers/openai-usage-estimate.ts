/**
 * Estimates usage of calls in OpenAI's format whose responses do not report it, or report only seconds. Paths are
 * normalized (token-estimates.ts).
 */

import { parseJsonString } from '../../scan/parse-json-text.js';
import { createEmptyCounts, TOKENS_MAX, type UsageCounts } from '../reading/provider-usage-to-token-counts.js';
import type { MeterOptions } from '../reading/response-usage-meter-interface.js';
import {
  estimateAudioSeconds,
  estimateAudioTokens,
  estimateCompressedEventTokens,
  estimateCompressedTextTokens,
  estimateRequestTokens,
  estimateSpeechTokens,
  estimateTextTokens,
  IMAGE_TOKENS_IN_MAX,
  IMAGE_TOKENS_OUT,
  isImagePath,
  isSpeechPath,
  isVideoPath,
  VIDEO_SECONDS_MAX,
} from '../reading/token-estimates.js';
import type { ObservedBody } from '../reading/usage-reader-interface.js';

/** Paths whose 2xx response costs money even without usage. */
const BILLABLE_PATHS = [
  '/chat/completions',
  '/completions',
  '/responses',
  '/responses/compact',
  '/embeddings',
  '/sonar',
  '/agent',
  '/images',
  '/images/generations',
  '/images/edits',
  '/images/variations',
  '/audio/speech',
  '/audio/transcriptions',
  '/audio/translations',
  '/videos',
  '/remix',
  '/extensions',
  '/rerank',
  '/ocr',
  ':rawpredict',
  ':streamrawpredict',
];

const LARGE_VIDEO_PIXELS = 1_024 * 1_024;

type RequestSize = Pick<MeterOptions, 'requestBytes' | 'requestBlobBytes' | 'requestedOutput'>;

export const isBillablePath = (path: string): boolean => BILLABLE_PATHS.some((end) => path.endsWith(end));

export const isTranscriptionPath = (path: string): boolean =>
  path.endsWith('/audio/transcriptions') || path.endsWith('/audio/translations');

/** Estimates the usage of a response. `images`: number of images in it. */
export function estimateUsage(path: string, body: ObservedBody, deltas: number, images: number): UsageCounts {
  const counts = estimateInput(path, body.options);
  if (isVideoPath(path)) {
    counts.videoSeconds = VIDEO_SECONDS_MAX;
    counts.largeVideo = true;
  } else if (isImagePath(path)) {
    counts.images = Math.max(1, images);
    counts.imageKind = requestedImageKind(body.options);
    counts.out = IMAGE_TOKENS_OUT * counts.images;
  } else if (body.kind === 'events') counts.out = deltas + estimateCompressedEventTokens(body.encodedBytes);
  else if (isSpeechPath(path)) counts.out = estimateSpeechTokens(body.bytes + body.encodedBytes, body.options);
  else if (!path.endsWith('/embeddings')) {
    const tokens = estimateTextTokens(body.bytes) + estimateCompressedTextTokens(body.encodedBytes);
    counts.out = Math.min(tokens, body.options.tokensOutMax ?? tokens);
  }
  return counts;
}

/** Usage from the request alone. Some speech models are billed by input text, others by generated audio. */
export function estimateInput(
  path: string,
  { requestBytes, requestBlobBytes, requestedOutput }: RequestSize,
): UsageCounts {
  const counts = createEmptyCounts();
  counts.inUncached = estimateRequestTokens(requestBytes, requestBlobBytes);
  if (isTranscriptionPath(path)) {
    counts.audioSeconds = estimateAudioSeconds(requestBytes);
    counts.inUncached = counts.audioIn = estimateAudioTokens(requestBytes);
  } else if (isVideoPath(path)) counts.inUncached = 0;
  else if (isImagePath(path)) counts.inUncached = Math.min(counts.inUncached, IMAGE_TOKENS_IN_MAX);
  else if (isSpeechPath(path)) {
    counts.characters = requestedOutput?.characters || requestBytes;
    if (requestedOutput !== null && requestedOutput.textBytes > 0)
      counts.inUncached = estimateTextTokens(requestedOutput.textBytes);
  }
  return counts;
}

/** Image kind as price lists name it: `1024x1792`, `hd 1024x1024`. */
function requestedImageKind({ requestedOutput }: MeterOptions): string {
  const size = requestedOutput?.size || '1024x1024';
  return requestedOutput?.quality === 'hd' ? `hd ${size}` : size;
}

/** `text`: JSON, a number or a string with a number. */
export function parseSeconds(text: string | null): number {
  const seconds = Number(parseJsonString(text, 32) ?? text);
  return seconds > 0 && seconds <= TOKENS_MAX ? Math.ceil(seconds) : 0;
}

/** `size`: e.g. `1792x1024`. */
export function isLargeVideo(size: string | null): boolean {
  const [width, height] = (size ?? '').split('x').map(Number);
  return (width ?? 0) * (height ?? 0) > LARGE_VIDEO_PIXELS;
}
