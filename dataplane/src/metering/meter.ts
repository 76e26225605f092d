/** Reading usage off a tee of the response (DESIGN §9). Bytes are never changed here. */

export interface TokenCounts {
  readonly tokensInUncached: number;
  readonly tokensCacheRead: number;
  readonly tokensCacheWrite: number;
  /** Reasoning included. */
  readonly tokensOut: number;
  readonly tokensReasoning: number;
}

/** reported: the provider's own figure; partial: its figure for a part, the rest estimated; estimated: all from bytes. */
export type UsageSource = 'reported' | 'partial' | 'estimated' | 'none';

export interface UsageReading extends TokenCounts {
  /** Model of the answer, else of the request; null when neither names one. */
  readonly model: string | null;
  readonly source: UsageSource;
  /** Error type inside a 200 stream (`server_error`, `overloaded_error` …); null when there was none. */
  readonly streamError: string | null;
  /** Billing facts that change the price (service tier, server tool use, cache write lifetime); see price.ts. */
  readonly extras: BillingExtras;
}

export interface BillingExtras {
  readonly serviceTier: string | null;
  readonly webSearches: number;
  /** Part of tokensCacheWrite with a 1 h lifetime (dearer at Anthropic). */
  readonly cacheWrite1h: number;
}

/** One response's meter. Decodes gzip/br/deflate on its own copy; bounded memory whatever the body does. */
export interface UsageMeter {
  /** The next bytes of the response body as the provider sent them, in any chunking. Must not keep the buffer. */
  observe(chunk: Buffer): void;
  /** Called once. `complete` is false when client, provider or shutdown cut the response. */
  finish(complete: boolean): UsageReading;
}
