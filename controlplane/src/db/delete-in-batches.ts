/** Deletes old rows in small batches, so that no sweep holds many locks for long. A backlog takes several sweeps. */

export const ROWS_PER_BATCH = 2_000;
const BATCHES_MAX = 50;

/**
 * Repeats `step`, which deletes at most {@link ROWS_PER_BATCH} rows and returns their number, until it deletes fewer.
 * At most {@link BATCHES_MAX} times.
 */
export async function deleteInBatches(step: () => Promise<number>): Promise<void> {
  for (let i = 0; i < BATCHES_MAX; i++) {
    if ((await step()) < ROWS_PER_BATCH) return;
  }
}
