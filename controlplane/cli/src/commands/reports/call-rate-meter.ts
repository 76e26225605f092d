/** Computes calls per minute from the growth of repeatedly sampled counts. */
import { MINUTE_MS } from '@acg/base/time-and-money-units';

interface RequestCount {
  readonly id: string;
  readonly requests: number;
}

/** Samples per rate: counts arrive in batches, so the rate between two samples would jump. */
const SAMPLES_MAX = 10;

export class CallRateMeter {
  readonly #samples: { readonly atMs: number; readonly counts: ReadonlyMap<string, number> }[] = [];

  addSample(rows: readonly RequestCount[], atMs: number): void {
    this.#samples.push({ atMs, counts: new Map(rows.map(({ id, requests }) => [id, requests])) });
    if (this.#samples.length > SAMPLES_MAX) this.#samples.shift();
  }

  /** Returns `–` before the second sample. */
  formatPerMinute(id: string): string {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    const [before, after] = [first?.counts.get(id), last?.counts.get(id)];
    if (first === undefined || last === undefined || first === last || before === undefined || after === undefined)
      return '–';
    // The count drops when an hour leaves the report's period; the rate is then at least 0.
    return String(Math.max(0, Math.round(((after - before) / (last.atMs - first.atMs)) * MINUTE_MS)));
  }
}
