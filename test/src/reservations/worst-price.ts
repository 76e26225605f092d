/**
 * The most that a vendor may bill for one accepted call, by the limits of {@link ./vendor-limits.ts} and the gateway's own
 * price list. Pure.
 */
import type { PricedUpstream } from '@acg/base/pricing/price-list';
import type { UsageReading } from '@acg/dataplane/metering/meter';
import type { PriceTable } from '@acg/dataplane/pricing/price';
import { hostedUse } from './hosted-use.js';
import { type Json, type PromptUsage, promptUsage, secondsOf, sumOf, textBytes } from './prompt-usage.js';
import {
  ANTHROPIC_COMPLETE,
  ANTHROPIC_MESSAGES,
  DRAWING,
  drawnTokens,
  EMBEDDINGS,
  HEARD,
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
  /** Without query. */
  readonly path: string;
  readonly model: string;
  readonly body: Readonly<Record<string, Json | Buffer>>;
}

/** What one answer can report at most. */
interface WorstUsage {
  readonly prompt: PromptUsage;
  readonly tokensOut: number;
  readonly outKind: 'text' | 'audio' | 'image';
  readonly extras: Partial<UsageReading['extras']>;
}

const NOTHING: PromptUsage = { text: 0, image: 0, audio: 0 };
const FREE: WorstUsage = { prompt: NOTHING, tokensOut: 0, outKind: 'text', extras: {} };

/**
 * Nano-dollars; Infinity where no limit is published. `tokensOutUnstated`: output tokens of a call that states no maximum; the gateway promises no more than
 * that for those (docs/contract.md#hard-budgets).
 */
export function worstPrice(
  call: VendorCall,
  prices: Pick<PriceTable, 'costOf'>,
  upstream: PricedUpstream,
  tokensOutUnstated: number,
): number {
  const usage = worstUsage(call, tokensOutUnstated);
  if (!Number.isFinite(sumOf(usage.prompt))) return Number.POSITIVE_INFINITY;
  let worst = 0;
  for (const reading of readingsOf(call, usage)) {
    worst = Math.max(worst, prices.costOf({ upstream, reading }).costNanos);
  }
  return worst;
}

function worstUsage(call: VendorCall, tokensOutUnstated: number): WorstUsage {
  const { path, model, body } = call;
  switch (path) {
    case '/v1/chat/completions':
      return generated(
        call,
        { ...OPENAI_CHAT, ...OPENAI_AUDIO_CHAT, ...OPENAI_SEARCH_CHAT }[model]!,
        tokensOutUnstated,
      );
    case '/v1/responses':
    case '/v1/responses/compact':
      return generated(call, OPENAI_CHAT[model]!, tokensOutUnstated);
    case '/v1/messages':
      return generated(call, ANTHROPIC_MESSAGES[model]!, tokensOutUnstated);
    case '/v1/complete':
      return generated(call, ANTHROPIC_COMPLETE[model]!, tokensOutUnstated);
    case '/v1/completions':
      return completions(call, OPENAI_COMPLETIONS[model]!, tokensOutUnstated);
    case '/v1/embeddings':
      return { ...FREE, prompt: { ...NOTHING, text: embeddedTokens(body.input as Json) } };
    case '/v1/images/generations':
    case '/v1/images/edits':
    case '/v1/images/variations':
      return drawn(call);
    case '/v1/audio/speech':
      return spoken(body as Readonly<Record<string, Json>>);
    case '/v1/audio/transcriptions':
    case '/v1/audio/translations':
      return heard(call, tokensOutUnstated);
    case '/v1/videos':
      return filmed(body);
    case '/v1/moderations':
    case '/v1/responses/input_tokens':
    case '/v1/messages/count_tokens':
      return FREE; // free of charge, and their answers have no usage
    default:
      throw new Error(`No limits for ${path}: add them to vendor-limits.ts`);
  }
}

/** One prompt, `n` answers. */
function generated(call: VendorCall, limits: ModelLimits, tokensOutUnstated: number): WorstUsage {
  const body = call.body as Readonly<Record<string, Json>>;
  const stated = body.max_completion_tokens ?? body.max_tokens ?? body.max_output_tokens ?? body.max_tokens_to_sample;
  const tokensOut = typeof stated === 'number' ? Math.min(stated, limits.tokensOutMax) : tokensOutUnstated;
  const modalities = Array.isArray(body.modalities) ? body.modalities : [];
  const prompt = within(promptUsage(call.vendor, call.path, body, limits), limits.tokensInMax);
  const hosted = hostedUse(body);
  // What a search model finds stands in the same prompt.
  const found = body.web_search_options === undefined ? 0 : limits.tokensInMax - sumOf(prompt);
  return {
    prompt: { ...prompt, text: prompt.text + found + (hosted.uses === 0 ? 0 : hosted.uses * limits.tokensInMax) },
    tokensOut: tokensOut * numberOr(body.n, 1),
    outKind: modalities.includes('audio') ? 'audio' : 'text',
    extras: hosted.extras,
  };
}

/** Each prompt of an array is one of its own, with `best_of` (else `n`) answers. */
function completions(call: VendorCall, limits: ModelLimits, tokensOutUnstated: number): WorstUsage {
  const { body } = call;
  const prompts = promptsOf(body.prompt as Json);
  let text = 0;
  for (const tokens of prompts) {
    text += Math.min(tokens + textBytes((body.suffix ?? '') as Json), limits.tokensInMax);
  }
  const answers = Math.max(numberOr(body.n, 1), numberOr(body.best_of, 1));
  const stated = numberOr(body.max_tokens, tokensOutUnstated);
  const tokensOut = Math.min(stated, limits.tokensOutMax) * answers * prompts.length;
  return { ...FREE, prompt: { ...NOTHING, text }, tokensOut };
}

/** Tokens of each prompt: a string, token ids, or an array of either. */
function promptsOf(prompt: Json): number[] {
  if (!Array.isArray(prompt)) return [textBytes(prompt)];
  if (prompt.every((item) => typeof item === 'number')) return [prompt.length];
  return prompt.map((item) => (Array.isArray(item) ? item.length : textBytes(item)));
}

function embeddedTokens(input: Json): number {
  let tokens = 0;
  for (const each of promptsOf(input)) tokens += Math.min(each, EMBEDDINGS.tokensPerInputMax);
  return Math.min(tokens, EMBEDDINGS.tokensPerRequestMax);
}

function drawn({ model, path, body }: VendorCall): WorstUsage {
  const images = numberOr(body.n, 1);
  const size = typeof body.size === 'string' && body.size !== 'auto' ? body.size : '1024x1024';
  const imageKind = body.quality === 'hd' ? `hd ${size}` : size;
  if (model.startsWith('dall-e')) return { ...FREE, extras: { images, imageKind } };
  const perImage = tokensPerImage(model, typeof body.size === 'string' ? body.size : 'auto');
  const partial = numberOr(body.partial_images, 0) * DRAWING.tokensPerPartialImage;
  return {
    prompt: {
      ...NOTHING,
      text: textBytes((body.prompt ?? '') as Json),
      image: path.endsWith('/edits') ? imagesIn(body) * DRAWING.tokensPerInputImageMax : 0,
    },
    tokensOut: images * (perImage + partial),
    outKind: 'image',
    extras: {},
  };
}

/** `size`: `1024x1536` or `auto`. */
function tokensPerImage(model: string, size: string): number {
  const [width = 0, height = 0] = size === 'auto' ? [] : size.split('x').map(Number);
  const fixed = DRAWING.tokensPerImage[model];
  if (fixed !== undefined) return width > 0 && width === height ? fixed[0] : fixed[1];
  return width > 0 ? drawnTokens(width, height) : drawnTokens(...DRAWING.largest);
}

/** Input images of an edit; the mask is one. */
function imagesIn(body: VendorCall['body']): number {
  const listed = Array.isArray(body.images) ? body.images.length : 0;
  const files = Object.entries(body).filter(([name, value]) => Buffer.isBuffer(value) && /^(?:image|mask)/.test(name));
  return listed + files.length + (body.mask !== undefined && !Buffer.isBuffer(body.mask) ? 1 : 0);
}

function spoken(body: Readonly<Record<string, Json>>): WorstUsage {
  const input = String(body.input);
  const bytes = Math.min(Buffer.byteLength(input), SPEECH.tokensInMax * SPEECH.textBytesPerToken);
  const textTokens = Math.ceil(bytes / SPEECH.textBytesPerToken);
  const characters = Math.min([...input].length, SPEECH.charactersMax);
  return {
    prompt: { ...NOTHING, text: textTokens + textBytes(body.instructions ?? '') },
    tokensOut: textTokens * SPEECH.audioTokensPerTextToken,
    outKind: 'audio',
    extras: { characters },
  };
}

function heard({ model, body }: VendorCall, tokensOutUnstated: number): WorstUsage {
  const seconds = secondsOf(body.file as Buffer);
  const limits = TRANSCRIPTION[model];
  if (limits === undefined) return { ...FREE, extras: { audioSeconds: seconds } };
  const audio = Math.min(limits.tokensInMax, seconds * HEARD.tokensPerSecond);
  return { ...FREE, prompt: { ...NOTHING, audio }, tokensOut: Math.min(limits.tokensOutMax, tokensOutUnstated) };
}

function filmed({ seconds, size }: VendorCall['body']): WorstUsage {
  const [width = 0, height = 0] = String(size ?? '')
    .split('x')
    .map(Number);
  const videoSeconds = numberOr(seconds, VIDEO_SECONDS_DEFAULT);
  return { ...FREE, extras: { videoSeconds, largeVideo: width * height > 1_024 * 1_024 } };
}

/** A prompt is refused when it is longer than the window: what is over it is not billed. */
function within(prompt: PromptUsage, tokensMax: number): PromptUsage {
  const audio = Math.min(prompt.audio, tokensMax);
  const image = Math.min(prompt.image, tokensMax - audio);
  return { audio, image, text: Math.min(prompt.text, tokensMax - audio - image) };
}

/** Every way in which the vendor may report that usage: uncached, read from a cache, or written to one. */
function readingsOf(call: VendorCall, { prompt, tokensOut, outKind, extras }: WorstUsage): UsageReading[] {
  const isAnthropic = call.vendor === 'anthropic';
  const text = isAnthropic ? JSON.stringify(call.body) : '';
  const tokens = sumOf(prompt);
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
      extras: {
        ...NO_EXTRAS,
        ...extras,
        cacheWrite1h,
        // A workspace may have a region of its own, which the request does not name.
        inferenceGeo: isAnthropic && call.body.inference_geo !== 'global' ? 'us' : null,
        serviceTier: tierOf(call),
        speed: call.body.speed === 'fast' ? 'fast' : null,
        audioTokensIn: Math.min(prompt.audio, tokensInUncached),
        imageTokensIn: tokensInUncached === 0 ? 0 : prompt.image,
        audioTokensOut: outKind === 'audio' ? tokensOut : 0,
        imageTokensOut: outKind === 'image' ? tokensOut : 0,
      },
    };
  };
  const readings = [reading(0, 0, 0), reading(tokens, 0, 0)];
  // OpenAI writes its caches unasked; Anthropic where a cache_control says so.
  if (!isAnthropic || text.includes('"cache_control"')) readings.push(reading(0, tokens, 0));
  if (text.includes('"ttl":"1h"')) readings.push(reading(0, tokens, tokens));
  return readings;
}

/**
 * `auto`, which is also the tier of a call that names none, is the tier of the vendor's project
 * (https://developers.openai.com/api/reference/resources/responses): taken for the standard one, because the owner of the
 * account chooses it, and no caller can.
 */
function tierOf({ vendor, body }: VendorCall): string | null {
  const tier = body.service_tier;
  return vendor === 'openai' && (tier === 'priority' || tier === 'fast' || tier === 'ultrafast') ? tier : null;
}

/** Forms carry numbers as text. */
function numberOr(value: Json | Buffer | undefined, otherwise: number): number {
  if (value === undefined || value === null) return otherwise;
  const number = Number(value);
  return Number.isFinite(number) ? number : otherwise;
}

const NO_EXTRAS: UsageReading['extras'] = {
  serviceTier: null,
  speed: null,
  inferenceGeo: null,
  webSearches: 0,
  fileSearches: 0,
  containers: 0,
  codeSessions: 0,
  drawn: null,
  videoSeconds: 0,
  largeVideo: false,
  characters: 0,
  images: 0,
  imageKind: '',
  cacheWrite1h: 0,
  audioTokensIn: 0,
  imageTokensIn: 0,
  audioTokensOut: 0,
  imageTokensOut: 0,
  audioSeconds: 0,
  units: 1,
};
