/** Reading usage off a tee of the response (docs/contract.md#usage). Bytes are never changed here. */
import type { UsageFormat } from '../../context/agent-context.js';
import type { RequestedOutput } from '../../scan/request-scanner.js';
import type { GeneratedImages } from './generated-images.js';

interface TokenCounts {
  readonly tokensInUncached: number;
  readonly tokensCacheRead: number;
  readonly tokensCacheWrite: number;
  /** Reasoning included. */
  readonly tokensOut: number;
  readonly tokensReasoning: number;
}

/** reported: the provider's own figure; partial: its figure for a part, the rest estimated; estimated: all from bytes. */
type UsageSource = 'reported' | 'partial' | 'estimated' | 'none';

export interface UsageReading extends TokenCounts {
  /** Model of the answer, else of the request; null when neither names one. */
  readonly model: string | null;
  readonly source: UsageSource;
  /** Error type inside a 200 stream (`server_error`, `overloaded_error` …); null when there was none. */
  readonly streamError: string | null;
  /** Billing facts that change the price; see price.ts. */
  readonly extras: BillingExtras;
}

/** What changes the price beside the token counts. All counts are integers ≥ 0. */
interface BillingExtras {
  /** `flex`, `priority`, `batch` … as the provider names it; null when it says nothing. */
  readonly serviceTier: string | null;
  /** Anthropic `speed`: `fast` costs more. */
  readonly speed: string | null;
  /** Anthropic `inference_geo`: `us` costs more. */
  readonly inferenceGeo: string | null;
  readonly webSearches: number;
  /** Calls of the hosted file search. */
  readonly fileSearches: number;
  /** Containers in which a hosted code interpreter ran, in units of 1 GB. */
  readonly containers: number;
  /** Answers in which code was executed at its own price (Anthropic). */
  readonly codeSessions: number;
  /** Images that a tool drew; null when there are none. */
  readonly generatedImages: GeneratedImages | null;
  readonly videoSeconds: number;
  readonly largeVideo: boolean;
  /** Of a text that is spoken. */
  readonly characters: number;
  /** Images of an answer without usage. */
  readonly images: number;
  /** As price lists name it: `1024x1792`, `hd 1024x1024`; `''` where there are none. */
  readonly imageKind: string;
  /** Part of tokensCacheWrite with a 1 h lifetime (dearer at Anthropic). */
  readonly cacheWrite1h: number;
  /** Parts of tokensInUncached and of tokensOut that have prices of their own on some models. */
  readonly audioTokensIn: number;
  readonly imageTokensIn: number;
  readonly audioTokensOut: number;
  readonly imageTokensOut: number;
  /** Transcription billed by time, whole seconds. */
  readonly audioSeconds: number;
  /** How often a per-request price is due: 1 for a 2xx call, e-mails sent for resend, 0 where nothing was bought. */
  readonly units: number;
}

/** Usage of one call that can be fetched again and again, so that it must be booked once: see {@link DeferredUsageCallback}. */
export interface DeferredUsageReading {
  /** The provider's id of the batch, its result file or the response. */
  readonly sourceId: string;
  /** Of the line within the source; `''` where the source is one answer. */
  readonly lineId: string;
  /** What was seen of an answer that was cut off: it may come whole later. */
  readonly isPartial: boolean;
  readonly reading: UsageReading;
}

/** Takes each line as it ends. What goes here is in no reading. */
type DeferredUsageCallback = (line: DeferredUsageReading) => void;

/** What is known when the response's headers are there. */
export interface MeterOptions {
  readonly usageFormat: UsageFormat;
  /** Upper case. */
  readonly method: string;
  /** The provider's own path without query (`/v1/chat/completions`). */
  readonly path: string;
  /** Body bytes of the request, as far as it was sent: the base of an estimate of the input. */
  readonly requestBytes: number;
  /** Part of requestBytes that is packed data (base64 images, files), which makes far fewer tokens than text. */
  readonly requestBlobBytes: number;
  /** From `scanRequest`; null when the body was not read or names none. */
  readonly requestModel: string | null;
  /** Items of a JSON array that is the whole request body (resend batch); 0 when it is none or was not read. */
  readonly requestItemCount: number;
  /** From `scanRequest`: what speech or images were asked for. */
  readonly requestedOutput: RequestedOutput | null;
  /** Upstream status. */
  readonly status: number;
  /** Header values of the response; null when absent. */
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  /** Output tokens that the request allows, all its answers together; null where that was not read or is not said. */
  readonly tokensOutMax: number | null;
  /** Null: nothing of this call can come again. */
  readonly onDeferredUsage: DeferredUsageCallback | null;
}

/** See {@link UsageMeter.tokensOutSeen}. */
export const TOKENS_KNOWN_AT_END = -1;

/** One response's meter. Decodes gzip/br/deflate on its own copy; bounded memory whatever the body does. */
export interface UsageMeter {
  /** The next bytes of the response body as the provider sent them, in any chunking. Must not keep the buffer. */
  observe(chunk: Buffer): void;
  /**
   * Output tokens of what has passed. A report counts only when more follows it: until then it may be the stream's last
   * word, and there is nothing more to come. -1: it is known at the end only.
   */
  readonly tokensOutSeen: number;
  /**
   * Where bytes may still be under way inside: true, and `done` runs once when all were read, which is when `finish` may
   * be called. Nothing is observed any more.
   */
  drain?(done: () => void): boolean;
  /** Called once. `complete` is false when client, provider or shutdown cut the response. Synchronous. */
  finish(isComplete: boolean): UsageReading;
}

/** A meter that can also be told of bytes that it will not see (a compressed body over the bounds). */
export interface BodyMeter extends UsageMeter {
  skipUndecodable(encodedBytes: number): void;
}
