/**
 * The live heap of a process does not grow with each call: over thousands of calls its growth, after all garbage was
 * collected, stays far below a kilobyte per call.
 */
export interface LiveHeapGrowth {
  readonly name: string;
  /** Calls that the process served between the two measurements. */
  readonly calls: number;
  readonly grownBytes: number;
  readonly liveBytes: number;
}

/** Late compilation and pools that settle stay below this bound over a few thousand calls. */
export const MAX_BYTES_PER_CALL = 700;

export function checkLiveHeapGrowth(growths: readonly LiveHeapGrowth[]): string[] {
  return growths
    .filter(({ calls, grownBytes }) => grownBytes > calls * MAX_BYTES_PER_CALL)
    .map(({ name, calls, grownBytes }) => `${name}: ${grownBytes} bytes more after ${calls} calls`);
}
