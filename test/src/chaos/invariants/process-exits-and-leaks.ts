/**
 * Processes exit only when a fault stops them. At the end, without traffic, they have about as much memory and as many
 * file descriptors as after the warm-up.
 */
export interface ProcessUsageChange {
  readonly name: string;
  /** After the warm-up. */
  readonly before: ProcessUsage;
  /** At rest, after the run. */
  readonly after: ProcessUsage;
}

export interface ProcessUsage {
  readonly residentBytes: number;
  readonly descriptors: number;
}

const MIB = 1_048_576;
/** Node returns memory late, if ever. The rest of a burst is not a leak; growth with each call is. */
export const MAX_GROWTH_BYTES = 96 * MIB;
/** Pools keep some connections that the warm-up did not need. */
export const MAX_NEW_DESCRIPTORS = 24;

export function checkProcesses(
  usageChanges: readonly ProcessUsageChange[],
  unexpectedEnds: readonly string[],
): string[] {
  const violations = unexpectedEnds.map((end) => `exited unexpectedly: ${end}`);
  for (const { name, before, after } of usageChanges) {
    const grown = after.residentBytes - before.residentBytes;
    if (grown > MAX_GROWTH_BYTES)
      violations.push(`${name}: ${Math.round(grown / MIB)} MiB more memory than at the start`);
    const more = after.descriptors - before.descriptors;
    if (more > MAX_NEW_DESCRIPTORS) violations.push(`${name}: ${more} file descriptors more than at the start`);
  }
  return violations;
}
