/**
 * Processes end only when they are told to, and hold at the end, without traffic, about as much memory and as many file
 * descriptors as one of their kind did when the traffic had warmed it up.
 */
export interface ProcessUsageChange {
  readonly name: string;
  /** Warmed up. */
  readonly before: ProcessUsage;
  /** At rest, after everything. */
  readonly after: ProcessUsage;
}

export interface ProcessUsage {
  readonly residentBytes: number;
  readonly descriptors: number;
}

const MIB = 1_048_576;
/** Node gives memory back late, if ever: what a burst left behind is no leak, what grows with the calls is. */
export const MAX_GROWTH_BYTES = 96 * MIB;
/** Pools keep some connections that the warm-up had not needed. */
export const MAX_NEW_DESCRIPTORS = 24;

export function checkProcesses(figures: readonly ProcessUsageChange[], unexpectedEnds: readonly string[]): string[] {
  const broken = unexpectedEnds.map((end) => `ended by itself: ${end}`);
  for (const { name, before, after } of figures) {
    const grown = after.residentBytes - before.residentBytes;
    if (grown > MAX_GROWTH_BYTES) broken.push(`${name}: ${Math.round(grown / MIB)} MiB more memory than at the start`);
    const more = after.descriptors - before.descriptors;
    if (more > MAX_NEW_DESCRIPTORS) broken.push(`${name}: ${more} file descriptors more than at the start`);
  }
  return broken;
}
