/**
 * No process holds more for each call that it has served: the growth over thousands of calls, after all garbage was
 * collected, stays far below a kilobyte a call.
 */
export interface MemoryGrowth {
  readonly name: string;
  /** That it had a part in between the two looks. */
  readonly calls: number;
  readonly grownBytes: number;
  readonly liveBytes: number;
}

/** Code that is compiled late and pools that settle stay below that over some thousand calls. */
export const MAX_BYTES_PER_CALL = 700;

export function checkMemoryGrowth(figures: readonly MemoryGrowth[]): string[] {
  return figures
    .filter(({ calls, grownBytes }) => grownBytes > calls * MAX_BYTES_PER_CALL)
    .map(({ name, calls, grownBytes }) => `${name}: ${grownBytes} bytes more after ${calls} calls`);
}
