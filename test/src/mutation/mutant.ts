/** One planted bug: a small, plausible change of one place, and the tests that must notice it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Mutant {
  /** Path in the repo. */
  readonly file: string;
  /** Text that stands in the file exactly once. */
  readonly find: string;
  readonly put: string;
  /** What the bug does. */
  readonly bug: string;
  /** Paths of tests, instead of the area's. */
  readonly tests?: readonly string[];
  /** Instead of the area's: one of its tests starts a process. */
  readonly built?: boolean;
  /** Why no test can notice it: it changes nothing that anybody sees. Not planted, but listed. */
  readonly equivalent?: string;
}

export interface Area {
  readonly name: string;
  /** Tests near the area, as paths for vitest; the quickest first. */
  readonly tests: readonly string[];
  /** Its tests start processes from dist/: it is built with each bug. Tests in this process run on the sources. */
  readonly built: boolean;
  readonly mutants: readonly Mutant[];
}

/** Null when the text is not there exactly once: the list is behind the code. */
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
