/** What a provider's format adds to the generic reading of documents and streams. */

import type { ScanSink } from '../scan/json-scanner.js';
import type { ScanNode } from '../scan/scan-paths.js';
import type { EventKind } from '../scan/sse-framer.js';
import type { MeterOptions, UsageMeter, UsageReading } from './meter.js';
import { type Counts, emptyCounts } from './usage-fields.js';

/** How the body came and what was seen of it. */
export interface BodyFacts {
  readonly kind: 'events' | 'document' | 'lines' | 'opaque';
  readonly complete: boolean;
  /** Bytes observed. */
  readonly bytes: number;
  /** Compressed bytes of a body that could not be decoded; 0 as a rule. */
  readonly encodedBytes: number;
  readonly options: MeterOptions;
}

/** Fed by the scanner with the members that `paths` names, document by document. */
export interface UsageReader extends ScanSink {
  readonly paths: ScanNode;
  /** Must this event's data be scanned? `mentionsUsage`: it holds a usage member that is not null. Counts what it declines. */
  wants(kind: EventKind, mentionsUsage: boolean, bytes: Buffer, from: number, to: number): boolean;
  /** A document (whole body, one event's data, one line) has ended. */
  documentEnd(kind: EventKind): void;
  /** After documentEnd of each line of a body of lines. */
  lineEnd(options: MeterOptions): void;
  /** Of the events so far; see {@link UsageMeter.tokensOutSeen}. */
  tokensOutSeen(options: MeterOptions): number;
  reading(facts: BodyFacts): UsageReading;
}

/** Builds the reading from counts; `units` of a per-request price is 1 unless the format says otherwise. */
export function readingOf(
  counts: Counts,
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
      drawn: counts.drawn,
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
export const linesReading = ({ complete }: BodyFacts, counted: boolean): UsageReading =>
  readingOf(emptyCounts(), counted ? (complete ? 'reported' : 'partial') : 'none', null, {});

/** An error's name as it goes into records: short, of harmless characters. */
export function errorName(value: unknown): string {
  if (typeof value !== 'string' || value === '') return 'error';
  return value.slice(0, 64).replace(/[^A-Za-z0-9_.-]/g, '_');
}
