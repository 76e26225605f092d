/** Interface of a provider format's usage reader, which extends the generic reading of documents and streams. */

import type { JsonPathNode } from '../../scan/json-paths.js';
import type { JsonScanSink } from '../../scan/json-scanner.js';
import type { SseEventKind } from '../../scan/sse-parser.js';
import { createEmptyCounts, STEP_FIGURES, type UsageCounts } from './provider-usage-to-token-counts.js';
import type { MeterOptions, UsageMeter, UsageReading } from './response-usage-meter-interface.js';

/** Type of the body and what was seen of it. */
export interface ObservedBody {
  readonly kind: 'events' | 'document' | 'jsonl' | 'opaque';
  readonly isComplete: boolean;
  /** Bytes observed. */
  readonly bytes: number;
  /** Compressed bytes of a body that could not be decoded; usually 0. */
  readonly encodedBytes: number;
  readonly options: MeterOptions;
}

/** Receives from the scanner the members named by `paths`, document by document. */
export interface UsageReader extends JsonScanSink {
  readonly paths: JsonPathNode;
  /**
   * Events report totals, which may grow by more tokens than the bytes of the event suggest. So a stream must be checked
   * event by event.
   */
  readonly reportsTotals?: boolean;
  /**
   * Whether to scan this event's data. `mentionsUsage`: it has a usage member that is not null. Counts the events that
   * it skips.
   */
  shouldScan(kind: SseEventKind, mentionsUsage: boolean, bytes: Buffer, from: number, to: number): boolean;
  /** A frame of an AWS event stream that ends it with an error; its document ends afterwards. */
  onException?(name: string): void;
  /** A document (whole body, one event's data, or one line) has ended. */
  onDocumentEnd(kind: SseEventKind): void;
  /** Called after `onDocumentEnd` for each line of a JSONL body. */
  onLineEnd(options: MeterOptions): void;
  /** Output tokens of the events so far; see {@link UsageMeter.tokensOutSeen}. */
  tokensOutSeen(options: MeterOptions): number;
  createReading(details: ObservedBody): UsageReading;
}

/** Builds the reading from counts. `units` of a per-request price is 1 unless the format sets it. */
export function createUsageReading(
  read: UsageCounts,
  source: UsageReading['source'],
  model: string | null,
  details: {
    readonly streamError?: string | null;
    readonly serviceTier?: string | null;
    readonly speed?: string | null;
    readonly inferenceGeo?: string | null;
    readonly units?: number;
    readonly statedCostNanos?: number | null;
  },
): UsageReading {
  const counts = { ...read };
  for (const figure of STEP_FIGURES) counts[figure] += read.outsideTotals?.[figure] ?? 0;
  return {
    tokensInUncached: counts.inUncached,
    tokensCacheRead: counts.cacheRead,
    tokensCacheWrite: counts.cacheWrite,
    tokensOut: counts.out,
    tokensReasoning: counts.reasoning,
    model,
    source,
    streamError: details.streamError ?? null,
    isMalformed: false,
    extras: {
      serviceTier: details.serviceTier ?? null,
      speed: details.speed ?? null,
      inferenceGeo: details.inferenceGeo ?? null,
      webSearches: counts.webSearches,
      pages: counts.pages,
      fileSearches: counts.fileSearches,
      containers: counts.containers,
      codeSessions: counts.codeSessions,
      generatedImages: counts.generatedImages,
      videoSeconds: counts.videoSeconds,
      largeVideo: counts.largeVideo,
      characters: counts.characters,
      images: counts.images,
      imageKind: counts.imageKind,
      cacheWrite1h: counts.cacheWrite1h,
      audioTokensIn: counts.audioIn,
      imageTokensIn: counts.imageIn,
      videoTokensIn: counts.videoIn,
      audioTokensOut: counts.audioOut,
      imageTokensOut: counts.imageOut,
      videoTokensOut: counts.videoOut,
      citationTokens: counts.citations,
      audioTokensCacheRead: counts.cacheReadAudio,
      audioSeconds: counts.audioSeconds,
      units: details.units ?? 1,
      statedCostNanos: details.statedCostNanos ?? null,
    },
  };
}

/** Reading of a JSONL body, whose usage is reported line by line. */
export const createJsonlReading = ({ isComplete }: ObservedBody, hasUsage: boolean): UsageReading =>
  createUsageReading(createEmptyCounts(), hasUsage ? (isComplete ? 'reported' : 'partial') : 'none', null, {});

/** Value of a response header that is plain ASCII; null: none. `name`: lower case. */
export function findResponseHeader({ responseHeaders }: MeterOptions, name: string): string | null {
  const at = responseHeaders.findIndex((entry, i) => i % 2 === 0 && entry === name);
  const value = at < 0 ? null : responseHeaders[at + 1];
  return typeof value === 'string' ? value : null;
}

/** Error name for usage records: at most 64 safe characters. */
export function sanitizeErrorName(value: unknown): string {
  if (typeof value !== 'string' || value === '') return 'error';
  return value.slice(0, 64).replace(/[^A-Za-z0-9_.-]/g, '_');
}
