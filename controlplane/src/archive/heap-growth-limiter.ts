/**
 * Bounds the memory of the archive. V8 lets garbage grow with the machine's memory: the peak of the process was 403 MiB
 * for parts that need 20 (2026-11). A major GC after each growth by 32 MiB keeps it near its size without the archive.
 */
import { createMajorGcTrigger } from '@acg/base/minor-gc-by-buffer-bytes';

const GROWTH_MAX_BYTES = 32 * 1_048_576;

/** The heap, and buffers outside of it. */
function usedBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

export class HeapGrowthLimiter {
  #usedAfterGc: number;

  constructor(
    readonly collect: () => void = createMajorGcTrigger(),
    readonly used: () => number = usedBytes,
  ) {
    this.#usedAfterGc = used();
  }

  /** Call it after each step that leaves garbage. */
  collectIfGrown(): void {
    const bytes = this.used();
    this.#usedAfterGc = Math.min(this.#usedAfterGc, bytes); // V8 may have collected by itself
    if (bytes - this.#usedAfterGc < GROWTH_MAX_BYTES) return;
    this.collect();
    this.#usedAfterGc = this.used();
  }
}
