/**
 * No process holds more for each call that it has served: the growth over thousands of calls, after all garbage was
 * collected, stays far below a kilobyte a call.
 */
export interface HeldFigures {
  readonly name: string;
  /** That it had a part in between the two looks. */
  readonly calls: number;
  readonly grownBytes: number;
  readonly heldBytes: number;
}

/** Code that is compiled late and pools that settle stay below that over some thousand calls. */
export const BYTES_PER_CALL_MAX = 700;

export function nothingHeldPerCall(figures: readonly HeldFigures[]): string[] {
  return figures
    .filter(({ calls, grownBytes }) => grownBytes > calls * BYTES_PER_CALL_MAX)
    .map(({ name, calls, grownBytes }) => `${name}: ${grownBytes} bytes more after ${calls} calls`);
}
