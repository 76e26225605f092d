/** Percentiles of samples, nearest rank. */
export function percentile(samples: readonly number[], p: number): number {
  if (samples.length === 0) return Number.NaN;
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil((p / 100) * sorted.length) - 1))]!;
}

export const median = (samples: readonly number[]): number => percentile(samples, 50);

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export interface Line {
  readonly slope: number;
  /** Standard error of the slope: a slope within two of them of 0 shows no growth. */
  readonly slopeError: number;
}

/** Least-squares line of y over x. */
export function fitLine(points: readonly (readonly [x: number, y: number])[]): Line {
  const n = points.length;
  const meanX = sum(points.map(([x]) => x)) / n;
  const meanY = sum(points.map(([, y]) => y)) / n;
  const over = sum(points.map(([x, y]) => (x - meanX) * (y - meanY)));
  const under = sum(points.map(([x]) => (x - meanX) ** 2));
  if (n < 3 || under === 0) return { slope: Number.NaN, slopeError: Number.NaN };
  const slope = over / under;
  const residuals = sum(points.map(([x, y]) => (y - meanY - slope * (x - meanX)) ** 2));
  return { slope, slopeError: Math.sqrt(residuals / (n - 2) / under) };
}
