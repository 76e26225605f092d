/** Old rows are deleted in small steps, so that no sweep holds many locks for long, and a backlog takes several sweeps. */

export const ROWS_PER_BATCH = 2_000;
const BATCHES_MAX = 50;

/** Repeats `step`, which deletes at most {@link ROWS_PER_BATCH} rows and says how many, until it finds fewer. */
export async function deleteInBatches(step: () => Promise<number>): Promise<void> {
  for (let i = 0; i < BATCHES_MAX; i++) {
    if ((await step()) < ROWS_PER_BATCH) return;
  }
}
