/**
 * Histogram of calls by latency and by status that merges by concatenation.
 *
 * A duration falls into a bucket: up to 100 ms each millisecond has its own, above that bucket borders grow by
 * 2.5 %, so a quantile in whole milliseconds is off by less than 2 % (DDSketch's scheme with fixed borders). The stored form is a run of 4-byte
 * pairs (bucket u16, count u16, big endian). A bucket may occur several times and counts add up; therefore SQL merges
 * two sketches with `a || b` and a sum over many rows is `string_agg`. Writers compact a sketch that has grown long.
 * Buckets from {@link STATUS_FIRST} on count answers by status instead.
 */
const LINEAR_MAX_MS = 100;
const GAMMA = 1.025;
const LOG_GAMMA = Math.log(GAMMA);
/** Durations are uint32 on the wire; the last bucket holds the largest. */
const DURATION_MS_MAX = 0xffff_ffff;
const BUCKETS = bucketOf(DURATION_MS_MAX) + 1;
const STATUS_FIRST = 1_024;
const PAIR_BYTES = 4;
const COUNT_MAX = 0xffff;

/** Every bucket that there is: of durations, then of statuses, which have three digits. */
const BUCKETS_ALL = 2_048;
/** From so many bytes on, {@link mergedCounts} pays. */
const ARRAY_MERGE_BYTES_MIN = 2_048;
/**
 * Counts of a long run of sketches by bucket, zero between two merges. A report over many agents merges megabytes: in a
 * map each pair costs ten to twenty times as much, and nothing else runs meanwhile.
 */
const mergedCounts = new Float64Array(BUCKETS_ALL);
/** What is read from base64, until it is merged: a buffer for each would be garbage by the megabyte. */
let base64Scratch = Buffer.allocUnsafe(64 * 1_024);

/** Longer than any useful compacted sketch of one hour: worth compacting. */
export const SKETCH_COMPACTION_BYTES = 2_400;

function bucketOf(durationMs: number): number {
  if (durationMs <= LINEAR_MAX_MS) return Math.max(0, Math.round(durationMs));
  return LINEAR_MAX_MS + Math.ceil(Math.log(Math.min(durationMs, DURATION_MS_MAX) / LINEAR_MAX_MS) / LOG_GAMMA);
}

/** The value whose relative distance to both borders of the bucket is the same. */
function bucketValueMs(bucket: number): number {
  if (bucket <= LINEAR_MAX_MS) return bucket;
  return (LINEAR_MAX_MS * GAMMA ** (bucket - LINEAR_MAX_MS) * 2) / (1 + GAMMA);
}

const isLatencyBucket = (bucket: number): boolean => bucket < STATUS_FIRST;

export class LatencySketch {
  readonly #counts = new Map<number, number>();
  #total = 0;

  /** Reads one stored sketch or any number of them behind each other. */
  static decode(bytes: Uint8Array): LatencySketch {
    const sketch = new LatencySketch();
    sketch.merge(bytes);
    return sketch;
  }

  /** The same, written in base64. */
  static fromBase64(text: string): LatencySketch {
    const sketch = new LatencySketch();
    sketch.mergeBase64(text);
    return sketch;
  }

  get total(): number {
    return this.#total;
  }

  addLatency(durationMs: number): void {
    this.#addToBucket(bucketOf(durationMs), 1);
  }

  /** `status`: at most 999. */
  addStatus(status: number): void {
    this.#addToBucket(STATUS_FIRST + status, 1);
  }

  /** Status and how many had it. */
  *statusCounts(): Generator<readonly [number, number]> {
    for (const [bucket, count] of this.#counts) if (bucket >= STATUS_FIRST) yield [bucket - STATUS_FIRST, count];
  }

  merge(bytes: Uint8Array): void {
    if (bytes.length >= ARRAY_MERGE_BYTES_MIN) this.#mergeByArray(bytes);
    else this.#mergePairs(bytes);
  }

  mergeBase64(text: string): void {
    if (base64Scratch.length < text.length) base64Scratch = Buffer.allocUnsafe(2 * text.length);
    this.merge(base64Scratch.subarray(0, base64Scratch.write(text, 'base64')));
  }

  #mergeByArray(bytes: Uint8Array): void {
    const end = bytes.length - (bytes.length % PAIR_BYTES);
    for (let at = 0; at < end; at += PAIR_BYTES) {
      const bucket = (bytes[at]! << 8) | bytes[at + 1]!;
      const count = (bytes[at + 2]! << 8) | bytes[at + 3]!;
      if (bucket < BUCKETS_ALL) mergedCounts[bucket]! += count;
      else this.#addToBucket(bucket, count); // no writer makes one
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

  /** The value of nearest rank: at least `quantile` of all durations are not above it. 0 when there are none. */
  quantile(quantile: number): number {
    let left = Math.max(1, Math.ceil(quantile * this.#total));
    for (const bucket of [...this.#counts.keys()].filter(isLatencyBucket).sort((a, b) => a - b)) {
      left -= this.#counts.get(bucket)!;
      if (left <= 0) return Math.round(bucketValueMs(bucket));
    }
    return 0;
  }

  #addToBucket(bucket: number, count: number): void {
    const known = isLatencyBucket(bucket) ? Math.min(bucket, BUCKETS - 1) : bucket;
    this.#counts.set(known, (this.#counts.get(known) ?? 0) + count);
    if (isLatencyBucket(bucket)) this.#total += count;
  }
}
