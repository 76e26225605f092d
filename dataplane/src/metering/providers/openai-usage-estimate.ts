/** What calls of OpenAI's format cost where their answers do not say it. Paths are plain ones (estimate.ts). */
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
import { createEmptyCounts, type UsageCounts } from '../reading/usage-counts.js';
import type { MeterOptions } from '../reading/usage-meter.js';
import type { ObservedBody } from '../reading/usage-reader.js';

/** Paths whose 2xx answer costs money even when it says nothing of usage. */
const BILLABLE_PATHS = [
  '/chat/completions',
  '/completions',
  '/responses',
  '/responses/compact',
  '/embeddings',
  '/images/generations',
  '/images/edits',
  '/images/variations',
  '/audio/speech',
  '/audio/transcriptions',
  '/audio/translations',
  '/videos',
  '/remix',
  '/extensions',
];

type RequestSize = Pick<MeterOptions, 'requestBytes' | 'requestBlobBytes' | 'requestedOutput'>;

export const isBillablePath = (path: string): boolean => BILLABLE_PATHS.some((end) => path.endsWith(end));

export const isTranscriptionPath = (path: string): boolean =>
  path.endsWith('/audio/transcriptions') || path.endsWith('/audio/translations');

/** `images`: how many the answer has. */
export function estimateUsage(path: string, facts: ObservedBody, deltas: number, images: number): UsageCounts {
  const counts = estimateInput(path, facts.options);
  if (isVideoPath(path)) {
    counts.videoSeconds = VIDEO_SECONDS_MAX;
    counts.largeVideo = true;
  } else if (isImagePath(path)) {
    counts.images = Math.max(1, images);
    counts.imageKind = imageKind(facts.options);
    counts.out = IMAGE_TOKENS_OUT * counts.images;
  } else if (facts.kind === 'events') counts.out = deltas + estimateCompressedEventTokens(facts.encodedBytes);
  else if (isSpeechPath(path)) counts.out = estimateSpeechTokens(facts.bytes + facts.encodedBytes, facts.options);
  else if (!path.endsWith('/embeddings')) {
    const tokens = estimateTextTokens(facts.bytes) + estimateCompressedTextTokens(facts.encodedBytes);
    counts.out = Math.min(tokens, facts.options.tokensOutMax ?? tokens);
  }
  return counts;
}

/** What was asked for alone: some models that speak are billed by what is to be said, others by what was said. */
export function estimateInput(
  path: string,
  { requestBytes, requestBlobBytes, requestedOutput: requestOrder }: RequestSize,
): UsageCounts {
  const counts = createEmptyCounts();
  counts.inUncached = estimateRequestTokens(requestBytes, requestBlobBytes);
  if (isTranscriptionPath(path)) {
    counts.audioSeconds = estimateAudioSeconds(requestBytes);
    counts.inUncached = counts.audioIn = estimateAudioTokens(requestBytes);
  } else if (isVideoPath(path)) counts.inUncached = 0;
  else if (isImagePath(path)) counts.inUncached = Math.min(counts.inUncached, IMAGE_TOKENS_IN_MAX);
  else if (isSpeechPath(path)) {
    counts.characters = requestOrder?.characters || requestBytes;
    if (requestOrder !== null && requestOrder.textBytes > 0)
      counts.inUncached = estimateTextTokens(requestOrder.textBytes);
  }
  return counts;
}

/** As price lists name it: `1024x1792`, `hd 1024x1024`. */
function imageKind({ requestedOutput: requestOrder }: MeterOptions): string {
  const size = requestOrder?.size || '1024x1024';
  return requestOrder?.quality === 'hd' ? `hd ${size}` : size;
}
