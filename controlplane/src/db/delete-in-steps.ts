/** Old rows are deleted in small steps, so that no sweep holds many locks for long, and a backlog takes several sweeps. */

export const ROWS_PER_STEP = 2_000;
const STEPS_MAX = 50;

/** Repeats `step`, which deletes at most {@link ROWS_PER_STEP} rows and says how many, until it finds fewer. */
export async function deleteInSteps(step: () => Promise<number>): Promise<void> {
  for (let i = 0; i < STEPS_MAX; i++) {
    if ((await step()) < ROWS_PER_STEP) return;
  }
}
