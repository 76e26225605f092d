/** What calls of OpenAI's format cost where their answers do not say it. Paths are plain ones (estimate.ts). */
import {
  encodedEventTokens,
  encodedTextTokens,
  heardSeconds,
  heardTokens,
  IMAGE_TOKENS_IN_MAX,
  IMAGE_TOKENS_OUT,
  isDrawing,
  isSpeech,
  isVideo,
  requestTokens,
  spokenTokens,
  textTokens,
  VIDEO_SECONDS_MAX,
} from './estimate.js';
import type { MeterOptions } from './meter.js';
import { type Counts, emptyCounts } from './usage-fields.js';
import type { BodyFacts } from './usage-reader.js';

/** Paths whose 2xx answer costs money even when it says nothing of usage. */
const GENERATING = [
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

type Asked = Pick<MeterOptions, 'requestBytes' | 'requestBlobBytes' | 'requestOrder'>;

export const isGenerating = (path: string): boolean => GENERATING.some((end) => path.endsWith(end));

export const isHearing = (path: string): boolean =>
  path.endsWith('/audio/transcriptions') || path.endsWith('/audio/translations');

/** `images`: how many the answer has. */
export function estimateOf(path: string, facts: BodyFacts, deltas: number, images: number): Counts {
  const counts = inputOf(path, facts.options);
  if (isVideo(path)) {
    counts.videoSeconds = VIDEO_SECONDS_MAX;
    counts.largeVideo = true;
  } else if (isDrawing(path)) {
    counts.images = Math.max(1, images);
    counts.imageKind = imageKind(facts.options);
    counts.out = IMAGE_TOKENS_OUT * counts.images;
  } else if (facts.kind === 'events') counts.out = deltas + encodedEventTokens(facts.encodedBytes);
  else if (isSpeech(path)) counts.out = spokenTokens(facts.bytes + facts.encodedBytes, facts.options);
  else if (!path.endsWith('/embeddings')) {
    const tokens = textTokens(facts.bytes) + encodedTextTokens(facts.encodedBytes);
    counts.out = Math.min(tokens, facts.options.tokensOutMax ?? tokens);
  }
  return counts;
}

/** What was asked for alone: some models that speak are billed by what is to be said, others by what was said. */
export function inputOf(path: string, { requestBytes, requestBlobBytes, requestOrder }: Asked): Counts {
  const counts = emptyCounts();
  counts.inUncached = requestTokens(requestBytes, requestBlobBytes);
  if (isHearing(path)) {
    counts.audioSeconds = heardSeconds(requestBytes);
    counts.inUncached = counts.audioIn = heardTokens(requestBytes);
  } else if (isVideo(path)) counts.inUncached = 0;
  else if (isDrawing(path)) counts.inUncached = Math.min(counts.inUncached, IMAGE_TOKENS_IN_MAX);
  else if (isSpeech(path)) {
    counts.characters = requestOrder?.characters || requestBytes;
    if (requestOrder !== null && requestOrder.textBytes > 0) counts.inUncached = textTokens(requestOrder.textBytes);
  }
  return counts;
}

/** As price lists name it: `1024x1792`, `hd 1024x1024`. */
function imageKind({ requestOrder }: MeterOptions): string {
  const size = requestOrder?.size || '1024x1024';
  return requestOrder?.quality === 'hd' ? `hd ${size}` : size;
}
