/** Calls per minute, from how counts that are looked at again and again have grown. */
import { MINUTE_MS } from '@acg/base/units';

interface Counted {
  readonly id: string;
  readonly requests: number;
}

/** Looks that one rate is made of: counts arrive in batches, so two looks alone would jump. */
const LOOKS = 10;

export class CallRates {
  readonly #looks: { readonly atMs: number; readonly counts: ReadonlyMap<string, number> }[] = [];

  observe(rows: readonly Counted[], atMs: number): void {
    this.#looks.push({ atMs, counts: new Map(rows.map(({ id, requests }) => [id, requests])) });
    if (this.#looks.length > LOOKS) this.#looks.shift();
  }

  /** `–` before the second look. */
  perMinute(id: string): string {
    const [first, last] = [this.#looks[0], this.#looks.at(-1)];
    const [before, after] = [first?.counts.get(id), last?.counts.get(id)];
    if (first === undefined || last === undefined || first === last || before === undefined || after === undefined)
      return '–';
    // An hour that leaves the period takes its calls along.
    return String(Math.max(0, Math.round(((after - before) / (last.atMs - first.atMs)) * MINUTE_MS)));
  }
}
