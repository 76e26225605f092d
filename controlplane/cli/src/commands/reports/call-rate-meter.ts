/** Calls per minute, from how counts that are looked at again and again have grown. */
import { MINUTE_MS } from '@acg/base/units';

interface RequestCount {
  readonly id: string;
  readonly requests: number;
}

/** Looks that one rate is made of: counts arrive in batches, so two looks alone would jump. */
const SAMPLES_MAX = 10;

export class CallRateMeter {
  readonly #samples: { readonly atMs: number; readonly counts: ReadonlyMap<string, number> }[] = [];

  addSample(rows: readonly RequestCount[], atMs: number): void {
    this.#samples.push({ atMs, counts: new Map(rows.map(({ id, requests }) => [id, requests])) });
    if (this.#samples.length > SAMPLES_MAX) this.#samples.shift();
  }

  /** `–` before the second look. */
  formatPerMinute(id: string): string {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    const [before, after] = [first?.counts.get(id), last?.counts.get(id)];
    if (first === undefined || last === undefined || first === last || before === undefined || after === undefined)
      return '–';
    // An hour that leaves the period takes its calls along.
    return String(Math.max(0, Math.round(((after - before) / (last.atMs - first.atMs)) * MINUTE_MS)));
  }
}
