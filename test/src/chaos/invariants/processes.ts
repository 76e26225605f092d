/**
 * Processes end only when they are told to, and hold at the end, without traffic, about as much memory and as many file
 * descriptors as one of their kind did when the traffic had warmed it up.
 */
export interface ProcessFigures {
  readonly name: string;
  /** Warmed up. */
  readonly before: Holdings;
  /** At rest, after everything. */
  readonly after: Holdings;
}

export interface Holdings {
  readonly residentBytes: number;
  readonly descriptors: number;
}

const MIB = 1_048_576;
/** Node gives memory back late, if ever: what a burst left behind is no leak, what grows with the calls is. */
export const GROWTH_BYTES_MAX = 96 * MIB;
/** Pools keep some connections that the warm-up had not needed. */
export const DESCRIPTORS_MORE_MAX = 24;

export function processesSound(figures: readonly ProcessFigures[], unexpectedEnds: readonly string[]): string[] {
  const broken = unexpectedEnds.map((end) => `ended by itself: ${end}`);
  for (const { name, before, after } of figures) {
    const grown = after.residentBytes - before.residentBytes;
    if (grown > GROWTH_BYTES_MAX) broken.push(`${name}: ${Math.round(grown / MIB)} MiB more memory than at the start`);
    const more = after.descriptors - before.descriptors;
    if (more > DESCRIPTORS_MORE_MAX) broken.push(`${name}: ${more} file descriptors more than at the start`);
  }
  return broken;
}
