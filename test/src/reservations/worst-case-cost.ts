/**
 * The highest bill of a vendor for one accepted call, from the limits of {@link ./vendor-limits.ts} and the gateway's
 * own price list. Pure.
 */
import type { PricedUpstream } from '@acg/base/pricing/price-list';
import type { UsageReading } from '@acg/dataplane/metering/reading/response-usage-meter-interface';
import type { CallCostCalculator } from '@acg/dataplane/pricing/call-cost-calculator';
import { maxHostedToolUse } from './max-hosted-tool-use.js';
import {
  audioSeconds,
  countTextBytes,
  type Json,
  maxPromptTokens,
  type PromptTokens,
  sumPromptTokens,
} from './max-prompt-tokens.js';
import {
  ANTHROPIC_COMPLETE,
  ANTHROPIC_MESSAGES,
  AUDIO_INPUT,
  EMBEDDINGS,
  IMAGE_GENERATION,
  imageOutputTokens,
  type ModelLimits,
  OPENAI_AUDIO_CHAT,
  OPENAI_CHAT,
  OPENAI_COMPLETIONS,
  OPENAI_SEARCH_CHAT,
  SPEECH,
  TRANSCRIPTION,
  VIDEO_SECONDS_DEFAULT,
} from './vendor-limits.js';

/** A call as the vendor reads it: JSON after JSON.parse, or the fields of a form. */
interface VendorCall {
  readonly vendor: 'openai' | 'anthropic';
  /** Without the query string. */
  readonly path: string;
  readonly model: string;
  readonly body: Readonly<Record<string, Json | Buffer>>;
}

/** The highest usage that one response can report. */
interface WorstCaseUsage {
  readonly prompt: PromptTokens;
  readonly tokensOut: number;
  readonly outKind: 'text' | 'audio' | 'image';
  readonly extras: Partial<UsageReading['extras']>;
}

const NO_TOKENS: PromptTokens = { text: 0, image: 0, audio: 0 };
const ZERO_USAGE: WorstCaseUsage = { prompt: NO_TOKENS, tokensOut: 0, outKind: 'text', extras: {} };

/**
 * Nano-dollars; Infinity when no limit is published. `tokensOutUnstated`: output tokens of a call without a maximum;
 * the gateway guarantees no more for those (docs/contract.md#hard-budgets).
 */
export function worstCaseCostNanos(
  call: VendorCall,
  prices: Pick<CallCostCalculator, 'calculateCost'>,
  upstream: PricedUpstream,
  tokensOutUnstated: number,
): number {
  const usage = worstCaseUsage(call, tokensOutUnstated);
  if (!Number.isFinite(sumPromptTokens(usage.prompt))) return Number.POSITIVE_INFINITY;
  let worst = 0;
  for (const reading of listUsageReadings(call, usage)) {
    worst = Math.max(worst, prices.calculateCost({ upstream, reading }).costNanos);
  }
  return worst;
}

function worstCaseUsage(call: VendorCall, tokensOutUnstated: number): WorstCaseUsage {
  const { path, model, body } = call;
  switch (path) {
    case '/v1/chat/completions':
      return worstCaseChatUsage(
        call,
        { ...OPENAI_CHAT, ...OPENAI_AUDIO_CHAT, ...OPENAI_SEARCH_CHAT }[model]!,
        tokensOutUnstated,
      );
    case '/v1/responses':
    case '/v1/responses/compact':
      return worstCaseChatUsage(call, OPENAI_CHAT[model]!, tokensOutUnstated);
    case '/v1/messages':
      return worstCaseChatUsage(call, ANTHROPIC_MESSAGES[model]!, tokensOutUnstated);
    case '/v1/complete':
      return worstCaseChatUsage(call, ANTHROPIC_COMPLETE[model]!, tokensOutUnstated);
    case '/v1/completions':
      return worstCaseCompletionUsage(call, OPENAI_COMPLETIONS[model]!, tokensOutUnstated);
    case '/v1/embeddings':
      return { ...ZERO_USAGE, prompt: { ...NO_TOKENS, text: embeddingTokens(body.input as Json) } };
    case '/v1/images/generations':
    case '/v1/images/edits':
    case '/v1/images/variations':
      return worstCaseImageUsage(call);
    case '/v1/audio/speech':
      return worstCaseSpeechUsage(body as Readonly<Record<string, Json>>);
    case '/v1/audio/transcriptions':
    case '/v1/audio/translations':
      return worstCaseTranscriptionUsage(call, tokensOutUnstated);
    case '/v1/videos':
      return worstCaseVideoUsage(body);
    case '/v1/moderations':
    case '/v1/responses/input_tokens':
    case '/v1/messages/count_tokens':
      return ZERO_USAGE; // free of charge, and the responses contain no usage
    default:
      throw new Error(`No limits for ${path}: add them to vendor-limits.ts`);
  }
}

/** One prompt, `n` completions. */
function worstCaseChatUsage(call: VendorCall, limits: ModelLimits, tokensOutUnstated: number): WorstCaseUsage {
  const body = call.body as Readonly<Record<string, Json>>;
  const stated = body.max_completion_tokens ?? body.max_tokens ?? body.max_output_tokens ?? body.max_tokens_to_sample;
  const tokensOut = typeof stated === 'number' ? Math.min(stated, limits.tokensOutMax) : tokensOutUnstated;
  const modalities = Array.isArray(body.modalities) ? body.modalities : [];
  const prompt = capPromptTokens(maxPromptTokens(call.vendor, call.path, body, limits), limits.tokensInMax);
  const hosted = maxHostedToolUse(body);
  // The search results of a search model are part of the same prompt.
  const found = body.web_search_options === undefined ? 0 : limits.tokensInMax - sumPromptTokens(prompt);
  return {
    prompt: { ...prompt, text: prompt.text + found + (hosted.uses === 0 ? 0 : hosted.uses * limits.tokensInMax) },
    tokensOut: tokensOut * parseNumberOr(body.n, 1),
    outKind: modalities.includes('audio') ? 'audio' : 'text',
    extras: hosted.extras,
  };
}

/** Each prompt of an array counts by itself, with `best_of` (else `n`) completions. */
function worstCaseCompletionUsage(call: VendorCall, limits: ModelLimits, tokensOutUnstated: number): WorstCaseUsage {
  const { body } = call;
  const prompts = promptTokenCounts(body.prompt as Json);
  let text = 0;
  for (const tokens of prompts) {
    text += Math.min(tokens + countTextBytes((body.suffix ?? '') as Json), limits.tokensInMax);
  }
  const answers = Math.max(parseNumberOr(body.n, 1), parseNumberOr(body.best_of, 1));
  const stated = parseNumberOr(body.max_tokens, tokensOutUnstated);
  const tokensOut = Math.min(stated, limits.tokensOutMax) * answers * prompts.length;
  return { ...ZERO_USAGE, prompt: { ...NO_TOKENS, text }, tokensOut };
}

/** Tokens of each prompt: a string, token ids, or an array of either. */
function promptTokenCounts(prompt: Json): number[] {
  if (!Array.isArray(prompt)) return [countTextBytes(prompt)];
  if (prompt.every((item) => typeof item === 'number')) return [prompt.length];
  return prompt.map((item) => (Array.isArray(item) ? item.length : countTextBytes(item)));
}

function embeddingTokens(input: Json): number {
  let tokens = 0;
  for (const each of promptTokenCounts(input)) tokens += Math.min(each, EMBEDDINGS.tokensPerInputMax);
  return Math.min(tokens, EMBEDDINGS.tokensPerRequestMax);
}

function worstCaseImageUsage({ model, path, body }: VendorCall): WorstCaseUsage {
  const images = parseNumberOr(body.n, 1);
  const size = typeof body.size === 'string' && body.size !== 'auto' ? body.size : '1024x1024';
  const imageKind = body.quality === 'hd' ? `hd ${size}` : size;
  if (model.startsWith('dall-e')) return { ...ZERO_USAGE, extras: { images, imageKind } };
  const perImage = tokensPerImage(model, typeof body.size === 'string' ? body.size : 'auto');
  const partial = parseNumberOr(body.partial_images, 0) * IMAGE_GENERATION.tokensPerPartialImage;
  return {
    prompt: {
      ...NO_TOKENS,
      text: countTextBytes((body.prompt ?? '') as Json),
      image: path.endsWith('/edits') ? countInputImages(body) * IMAGE_GENERATION.tokensPerInputImageMax : 0,
    },
    tokensOut: images * (perImage + partial),
    outKind: 'image',
    extras: {},
  };
}

/** `size`: `1024x1536` or `auto`. */
function tokensPerImage(model: string, size: string): number {
  const [width = 0, height = 0] = size === 'auto' ? [] : size.split('x').map(Number);
  const fixed = IMAGE_GENERATION.tokensPerImage[model];
  if (fixed !== undefined) return width > 0 && width === height ? fixed[0] : fixed[1];
  return width > 0 ? imageOutputTokens(width, height) : imageOutputTokens(...IMAGE_GENERATION.largest);
}

/** Input images of an edit; the mask counts as one. */
function countInputImages(body: VendorCall['body']): number {
  const listed = Array.isArray(body.images) ? body.images.length : 0;
  const files = Object.entries(body).filter(([name, value]) => Buffer.isBuffer(value) && /^(?:image|mask)/.test(name));
  return listed + files.length + (body.mask !== undefined && !Buffer.isBuffer(body.mask) ? 1 : 0);
}

function worstCaseSpeechUsage(body: Readonly<Record<string, Json>>): WorstCaseUsage {
  const input = String(body.input);
  const bytes = Math.min(Buffer.byteLength(input), SPEECH.tokensInMax * SPEECH.textBytesPerToken);
  const textTokens = Math.ceil(bytes / SPEECH.textBytesPerToken);
  const characters = Math.min([...input].length, SPEECH.charactersMax);
  return {
    prompt: { ...NO_TOKENS, text: textTokens + countTextBytes(body.instructions ?? '') },
    tokensOut: textTokens * SPEECH.audioTokensPerTextToken,
    outKind: 'audio',
    extras: { characters },
  };
}

function worstCaseTranscriptionUsage({ model, body }: VendorCall, tokensOutUnstated: number): WorstCaseUsage {
  const seconds = audioSeconds(body.file as Buffer);
  const limits = TRANSCRIPTION[model];
  if (limits === undefined) return { ...ZERO_USAGE, extras: { audioSeconds: seconds } };
  const audio = Math.min(limits.tokensInMax, seconds * AUDIO_INPUT.tokensPerSecond);
  return {
    ...ZERO_USAGE,
    prompt: { ...NO_TOKENS, audio },
    tokensOut: Math.min(limits.tokensOutMax, tokensOutUnstated),
  };
}

function worstCaseVideoUsage({ seconds, size }: VendorCall['body']): WorstCaseUsage {
  const [width = 0, height = 0] = String(size ?? '')
    .split('x')
    .map(Number);
  const videoSeconds = parseNumberOr(seconds, VIDEO_SECONDS_DEFAULT);
  return { ...ZERO_USAGE, extras: { videoSeconds, largeVideo: width * height > 1_024 * 1_024 } };
}

/** A prompt longer than the window is rejected: the excess is not billed. */
function capPromptTokens(prompt: PromptTokens, tokensMax: number): PromptTokens {
  const audio = Math.min(prompt.audio, tokensMax);
  const image = Math.min(prompt.image, tokensMax - audio);
  return { audio, image, text: Math.min(prompt.text, tokensMax - audio - image) };
}

/** All ways in which the vendor may report that usage: uncached, read from a cache, or written to one. */
function listUsageReadings(call: VendorCall, { prompt, tokensOut, outKind, extras }: WorstCaseUsage): UsageReading[] {
  const isAnthropic = call.vendor === 'anthropic';
  const text = isAnthropic ? JSON.stringify(call.body) : '';
  const tokens = sumPromptTokens(prompt);
  const reading = (cacheRead: number, cacheWrite: number, cacheWrite1h: number): UsageReading => {
    const tokensInUncached = tokens - cacheRead - cacheWrite;
    return {
      tokensInUncached,
      tokensCacheRead: cacheRead,
      tokensCacheWrite: cacheWrite,
      tokensOut,
      tokensReasoning: 0,
      model: call.model,
      source: 'reported',
      streamError: null,
      isMalformed: false,
      extras: {
        ...NO_EXTRAS,
        ...extras,
        cacheWrite1h,
        // A workspace may have its own region, which the request does not contain.
        inferenceGeo: isAnthropic && call.body.inference_geo !== 'global' ? 'us' : null,
        serviceTier: serviceTierOf(call),
        speed: call.body.speed === 'fast' ? 'fast' : null,
        audioTokensIn: Math.min(prompt.audio, tokensInUncached),
        imageTokensIn: tokensInUncached === 0 ? 0 : prompt.image,
        audioTokensOut: outKind === 'audio' ? tokensOut : 0,
        imageTokensOut: outKind === 'image' ? tokensOut : 0,
      },
    };
  };
  const readings = [reading(0, 0, 0), reading(tokens, 0, 0)];
  // OpenAI writes to its caches without a request; Anthropic does for each `cache_control`.
  if (!isAnthropic || text.includes('"cache_control"')) readings.push(reading(0, tokens, 0));
  if (text.includes('"ttl":"1h"')) readings.push(reading(0, tokens, tokens));
  return readings;
}

/**
 * A call with `auto`, or without a tier, uses the tier of the vendor's project
 * (https://developers.openai.com/api/reference/resources/responses). Assumes the standard tier, because the owner of
 * the account chooses it and no caller can.
 */
function serviceTierOf({ vendor, body }: VendorCall): string | null {
  const tier = body.service_tier;
  return vendor === 'openai' && (tier === 'priority' || tier === 'fast' || tier === 'ultrafast') ? tier : null;
}

/** Forms contain numbers as text. */
function parseNumberOr(value: Json | Buffer | undefined, otherwise: number): number {
  if (value === undefined || value === null) return otherwise;
  const number = Number(value);
  return Number.isFinite(number) ? number : otherwise;
}

const NO_EXTRAS: UsageReading['extras'] = {
  serviceTier: null,
  speed: null,
  inferenceGeo: null,
  webSearches: 0,
  pages: 0,
  fileSearches: 0,
  containers: 0,
  codeSessions: 0,
  generatedImages: null,
  videoSeconds: 0,
  largeVideo: false,
  characters: 0,
  images: 0,
  imageKind: '',
  cacheWrite1h: 0,
  audioTokensIn: 0,
  imageTokensIn: 0,
  videoTokensIn: 0,
  audioTokensOut: 0,
  imageTokensOut: 0,
  videoTokensOut: 0,
  citationTokens: 0,
  audioTokensCacheRead: 0,
  audioSeconds: 0,
  units: 1,
  statedCostNanos: null,
};
