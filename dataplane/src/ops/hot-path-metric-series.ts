/**
 * Metric series for the hot path, registered in a prom-client registry like its own. prom-client builds and hashes a
 * label object for each observation, about 1 µs; here the caller keeps the cell of its label values and adds to a
 * number.
 */
import type { Registry } from 'prom-client';

type Labels = Readonly<Record<string, string>>;

export type Aggregator = 'sum' | 'min' | 'max' | 'first';

interface Sample {
  readonly labels: Labels;
  readonly value: number;
  readonly metricName?: string;
}

/** The value of one label combination. */
export interface SeriesCell {
  value: number;
}

abstract class MetricSeries {
  abstract readonly type: 'counter' | 'gauge' | 'histogram';
  constructor(
    readonly name: string,
    readonly help: string,
    registry: Registry,
    /** How the values of several workers are aggregated. */
    readonly aggregator: Aggregator = 'sum',
  ) {
    registry.registerMetric(this as never);
  }

  abstract samples(): Sample[];

  /** Called by the registry at each scrape. */
  async get(): Promise<object> {
    const { name, help, type, aggregator } = this;
    return { name, help, type, aggregator, values: this.samples() };
  }

  /** Called by the registry's reset; does nothing, because counters of a process only grow. */
  reset(): void {}
}

export class CounterSeries extends MetricSeries {
  readonly type = 'counter';
  readonly #labelNames: readonly string[];
  readonly #cells = new Map<string, { readonly labels: Labels; readonly cell: SeriesCell }>();

  constructor(name: string, help: string, registry: Registry, labelNames: readonly string[] = []) {
    super(name, help, registry);
    this.#labelNames = labelNames;
  }

  /** The cell of these label values; keep it where it is used often. */
  cell(...values: readonly string[]): SeriesCell {
    const key = values.join('\0');
    let entry = this.#cells.get(key);
    if (entry === undefined) {
      const labels = Object.fromEntries(this.#labelNames.map((name, i) => [name, values[i] ?? '']));
      entry = { labels, cell: { value: 0 } };
      this.#cells.set(key, entry);
    }
    return entry.cell;
  }

  samples(): Sample[] {
    return Array.from(this.#cells.values(), ({ labels, cell }) => ({ labels, value: cell.value }));
  }
}

/** A gauge whose value is read at each scrape. */
export class GaugeSeries extends MetricSeries {
  readonly type = 'gauge';
  readonly #read: () => readonly Sample[] | number;

  constructor(
    name: string,
    help: string,
    registry: Registry,
    read: () => readonly Sample[] | number,
    aggregator: Aggregator = 'sum',
  ) {
    super(name, help, registry, aggregator);
    this.#read = read;
  }

  samples(): Sample[] {
    const read = this.#read();
    return typeof read === 'number' ? [{ labels: {}, value: read }] : [...read];
  }
}

/** A counter whose value is stored elsewhere and read at each scrape. */
export class ObservedCounterSeries extends MetricSeries {
  readonly type = 'counter';
  readonly #read: () => readonly Sample[] | number;

  constructor(name: string, help: string, registry: Registry, read: () => readonly Sample[] | number) {
    super(name, help, registry);
    this.#read = read;
  }

  samples(): Sample[] {
    const read = this.#read();
    return typeof read === 'number' ? [{ labels: {}, value: read }] : [...read];
  }
}

export class HistogramCell {
  readonly #bounds: readonly number[];
  /** Per bucket, not cumulative; the last one is above all bounds. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]!) bucket++;
    this.counts[bucket]!++;
    this.sum += value;
  }
}

export class HistogramSeries extends MetricSeries {
  readonly type = 'histogram';
  readonly #labelName: string;
  readonly #bounds: readonly number[];
  readonly #cells = new Map<string, HistogramCell>();

  /** `labelName` is "" for a histogram without labels. */
  constructor(name: string, help: string, registry: Registry, bounds: readonly number[], labelName = '') {
    super(name, help, registry);
    this.#bounds = bounds;
    this.#labelName = labelName;
  }

  cell(labelValue = ''): HistogramCell {
    let cell = this.#cells.get(labelValue);
    if (cell === undefined) {
      cell = new HistogramCell(this.#bounds);
      this.#cells.set(labelValue, cell);
    }
    return cell;
  }

  samples(): Sample[] {
    const samples: Sample[] = [];
    for (const [labelValue, cell] of this.#cells) {
      const labels: Labels = this.#labelName === '' ? {} : { [this.#labelName]: labelValue };
      let total = 0;
      for (let i = 0; i < cell.counts.length; i++) {
        total += cell.counts[i]!;
        const le = i < this.#bounds.length ? String(this.#bounds[i]) : '+Inf';
        samples.push({ labels: { ...labels, le }, value: total, metricName: `${this.name}_bucket` });
      }
      samples.push({ labels, value: cell.sum, metricName: `${this.name}_sum` });
      samples.push({ labels, value: total, metricName: `${this.name}_count` });
    }
    return samples;
  }
}
