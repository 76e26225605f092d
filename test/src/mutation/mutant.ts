/** One mutant: a small, plausible change of one place, and the tests that must kill it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Mutant {
  /** Path in the repository. */
  readonly file: string;
  /** Text that occurs in the file exactly once. */
  readonly find: string;
  readonly put: string;
  /** Effect of the mutant. */
  readonly bug: string;
  /** Paths of tests; overrides those of the area. */
  readonly tests?: readonly string[];
  /** Overrides that of the area: one of the tests starts a process. */
  readonly built?: boolean;
  /** Why no test can kill it: the change has no visible effect. Not applied, but listed. */
  readonly equivalent?: string;
}

export interface Area {
  readonly name: string;
  /** Tests near the area, as paths for vitest; the quickest first. */
  readonly tests: readonly string[];
  /**
   * True when the tests start processes from dist/, which is then built with each mutant. Tests in this process use the
   * sources.
   */
  readonly built: boolean;
  readonly mutants: readonly Mutant[];
}

/** Null when the text does not occur exactly once: the list is out of date. */
export function applyMutant(root: string, { file, find, put }: Mutant): string | null {
  let source: string;
  try {
    source = readFileSync(join(root, file), 'utf8');
  } catch {
    return null;
  }
  const at = source.indexOf(find);
  if (at < 0 || source.indexOf(find, at + 1) >= 0) return null;
  return source.slice(0, at) + put + source.slice(at + find.length);
}
