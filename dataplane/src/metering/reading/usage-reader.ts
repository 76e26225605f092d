/** What a provider's format adds to the generic reading of documents and streams. */

import type { JsonPathNode } from '../../scan/json-paths.js';
import type { JsonScanSink } from '../../scan/json-scanner.js';
import type { SseEventKind } from '../../scan/sse-parser.js';
import { createEmptyCounts, type UsageCounts } from './usage-counts.js';
import type { MeterOptions, UsageMeter, UsageReading } from './usage-meter.js';

/** How the body came and what was seen of it. */
export interface ObservedBody {
  readonly kind: 'events' | 'document' | 'lines' | 'opaque';
  readonly isComplete: boolean;
  /** Bytes observed. */
  readonly bytes: number;
  /** Compressed bytes of a body that could not be decoded; 0 as a rule. */
  readonly encodedBytes: number;
  readonly options: MeterOptions;
}

/** Fed by the scanner with the members that `paths` names, document by document. */
export interface UsageReader extends JsonScanSink {
  readonly paths: JsonPathNode;
  /** Must this event's data be scanned? `mentionsUsage`: it holds a usage member that is not null. Counts what it declines. */
  shouldScan(kind: SseEventKind, mentionsUsage: boolean, bytes: Buffer, from: number, to: number): boolean;
  /** A document (whole body, one event's data, one line) has ended. */
  onDocumentEnd(kind: SseEventKind): void;
  /** After documentEnd of each line of a body of lines. */
  onLineEnd(options: MeterOptions): void;
  /** Of the events so far; see {@link UsageMeter.tokensOutSeen}. */
  tokensOutSeen(options: MeterOptions): number;
  createReading(facts: ObservedBody): UsageReading;
}

/** Builds the reading from counts; `units` of a per-request price is 1 unless the format says otherwise. */
export function createUsageReading(
  counts: UsageCounts,
  source: UsageReading['source'],
  model: string | null,
  facts: {
    readonly streamError?: string | null;
    readonly serviceTier?: string | null;
    readonly speed?: string | null;
    readonly inferenceGeo?: string | null;
    readonly units?: number;
  },
): UsageReading {
  return {
    tokensInUncached: counts.inUncached,
    tokensCacheRead: counts.cacheRead,
    tokensCacheWrite: counts.cacheWrite,
    tokensOut: counts.out,
    tokensReasoning: counts.reasoning,
    model,
    source,
    streamError: facts.streamError ?? null,
    extras: {
      serviceTier: facts.serviceTier ?? null,
      speed: facts.speed ?? null,
      inferenceGeo: facts.inferenceGeo ?? null,
      webSearches: counts.webSearches,
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
      audioTokensOut: counts.audioOut,
      imageTokensOut: counts.imageOut,
      audioSeconds: counts.audioSeconds,
      units: facts.units ?? 1,
    },
  };
}

/** Of a body of lines, whose usage is counted line by line. */
export const createJsonlReading = ({ isComplete: complete }: ObservedBody, counted: boolean): UsageReading =>
  createUsageReading(createEmptyCounts(), counted ? (complete ? 'reported' : 'partial') : 'none', null, {});

/** An error's name as it goes into records: short, of harmless characters. */
export function sanitizeErrorName(value: unknown): string {
  if (typeof value !== 'string' || value === '') return 'error';
  return value.slice(0, 64).replace(/[^A-Za-z0-9_.-]/g, '_');
}
