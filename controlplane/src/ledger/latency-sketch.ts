/**
 * Histogram of calls by latency and by status that merges by concatenation.
 *
 * Up to 100 ms each millisecond has its own bucket. Above that, bucket borders grow by 2.5 %, so a quantile in whole
 * milliseconds is off by less than 2 % (DDSketch's scheme with fixed borders).
 *
 * The stored form is a sequence of 4-byte pairs (bucket u16, count u16, big endian). A bucket may occur several times
 * and its counts add up. Therefore SQL merges two sketches with `a || b`, and many rows with `string_agg`. Writers
 * compact a sketch that has grown long. Buckets from {@link STATUS_FIRST} on count statuses.
 */
const LINEAR_MAX_MS = 100;
const GAMMA = 1.025;
const LOG_GAMMA = Math.log(GAMMA);
/** Durations are uint32 on the wire; the last bucket holds the largest. */
const DURATION_MS_MAX = 0xffff_ffff;
const BUCKETS = latencyBucketOf(DURATION_MS_MAX) + 1;
const STATUS_FIRST = 1_024;
const PAIR_BYTES = 4;
const COUNT_MAX = 0xffff;

/** Number of all buckets: those of durations, then those of three-digit statuses. */
const BUCKETS_ALL = 2_048;
/** Input size from which {@link mergedCounts} is faster than the map. */
const ARRAY_MERGE_BYTES_MIN = 2_048;
/**
 * Counts by bucket while a long input is merged; all zero between two merges. A report over many agents merges
 * megabytes synchronously, and a map costs ten to twenty times as much per pair.
 */
const mergedCounts = new Float64Array(BUCKETS_ALL);
/** Decoded base64 until it is merged. A new buffer for each sketch would create megabytes of garbage. */
let base64Scratch = Buffer.allocUnsafe(64 * 1_024);

/** A sketch above this size is compacted. No compacted sketch of one hour is that long. */
export const SKETCH_COMPACTION_BYTES = 2_400;

function latencyBucketOf(durationMs: number): number {
  if (durationMs <= LINEAR_MAX_MS) return Math.max(0, Math.round(durationMs));
  return LINEAR_MAX_MS + Math.ceil(Math.log(Math.min(durationMs, DURATION_MS_MAX) / LINEAR_MAX_MS) / LOG_GAMMA);
}

/** The value with the same relative distance to both borders of the bucket, ms. */
function bucketValueMs(bucket: number): number {
  if (bucket <= LINEAR_MAX_MS) return bucket;
  return (LINEAR_MAX_MS * GAMMA ** (bucket - LINEAR_MAX_MS) * 2) / (1 + GAMMA);
}

const isLatencyNotStatusBucket = (bucket: number): boolean => bucket < STATUS_FIRST;

export class LatencySketch {
  readonly #counts = new Map<number, number>();
  #total = 0;

  /** Reads one stored sketch, or several concatenated ones. */
  static decode(bytes: Uint8Array): LatencySketch {
    const sketch = new LatencySketch();
    sketch.merge(bytes);
    return sketch;
  }

  /** Reads base64 of one or several concatenated stored sketches. */
  static fromBase64(text: string): LatencySketch {
    const sketch = new LatencySketch();
    sketch.mergeBase64(text);
    return sketch;
  }

  get total(): number {
    return this.#total;
  }

  addLatency(durationMs: number): void {
    this.#addToBucket(latencyBucketOf(durationMs), 1);
  }

  /** `status`: at most 999. */
  addStatus(status: number): void {
    this.#addToBucket(STATUS_FIRST + status, 1);
  }

  /** Pairs of status and number of calls. */
  *statusCounts(): Generator<readonly [number, number]> {
    for (const [bucket, count] of this.#counts) if (bucket >= STATUS_FIRST) yield [bucket - STATUS_FIRST, count];
  }

  merge(bytes: Uint8Array): void {
    if (bytes.length >= ARRAY_MERGE_BYTES_MIN) this.#mergeViaCountsArray(bytes);
    else this.#mergePairs(bytes);
  }

  mergeBase64(text: string): void {
    if (base64Scratch.length < text.length) base64Scratch = Buffer.allocUnsafe(2 * text.length);
    this.merge(base64Scratch.subarray(0, base64Scratch.write(text, 'base64')));
  }

  #mergeViaCountsArray(bytes: Uint8Array): void {
    const end = bytes.length - (bytes.length % PAIR_BYTES);
    for (let at = 0; at < end; at += PAIR_BYTES) {
      const bucket = (bytes[at]! << 8) | bytes[at + 1]!;
      const count = (bytes[at + 2]! << 8) | bytes[at + 3]!;
      if (bucket < BUCKETS_ALL) mergedCounts[bucket]! += count;
      else this.#addToBucket(bucket, count); // no current writer produces such a bucket
    }
    for (let bucket = 0; bucket < BUCKETS_ALL; bucket++) {
      const count = mergedCounts[bucket]!;
      if (count === 0) continue;
      mergedCounts[bucket] = 0;
      this.#addToBucket(bucket, count);
    }
  }

  #mergePairs(bytes: Uint8Array): void {
    for (let at = 0; at + PAIR_BYTES <= bytes.length; at += PAIR_BYTES) {
      this.#addToBucket((bytes[at]! << 8) | bytes[at + 1]!, (bytes[at + 2]! << 8) | bytes[at + 3]!);
    }
  }

  /** The shortest stored form. */
  encode(): Buffer {
    const pairs: number[] = [];
    for (const [bucket, count] of [...this.#counts].sort((a, b) => a[0] - b[0])) {
      for (let rest = count; rest > 0; rest -= COUNT_MAX) pairs.push(bucket, Math.min(rest, COUNT_MAX));
    }
    const bytes = Buffer.allocUnsafe(pairs.length * 2);
    for (let i = 0; i < pairs.length; i++) bytes.writeUInt16BE(pairs[i]!, i * 2);
    return bytes;
  }

  /**
   * The nearest-rank quantile in ms: at least this fraction (0 to 1) of all durations are not above it. 0 when the
   * sketch is empty.
   */
  quantile(quantile: number): number {
    let left = Math.max(1, Math.ceil(quantile * this.#total));
    for (const bucket of [...this.#counts.keys()].filter(isLatencyNotStatusBucket).sort((a, b) => a - b)) {
      left -= this.#counts.get(bucket)!;
      if (left <= 0) return Math.round(bucketValueMs(bucket));
    }
    return 0;
  }

  #addToBucket(bucket: number, count: number): void {
    const known = isLatencyNotStatusBucket(bucket) ? Math.min(bucket, BUCKETS - 1) : bucket;
    this.#counts.set(known, (this.#counts.get(known) ?? 0) + count);
    if (isLatencyNotStatusBucket(bucket)) this.#total += count;
  }
}
