/** One generated mutant: a replacement of one range of a source file. */
import { createHash } from 'node:crypto';
import type { Edit } from './text-operators.js';

export interface Mutant extends Edit {
  /** The same for the same change of the same version of the file. */
  readonly id: string;
  /** Path in the repository. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly original: string;
}

const hash = (...parts: readonly (string | number)[]): string =>
  createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 16);

export function createMutant(file: string, source: string, edit: Edit): Mutant {
  const { start, end, replacement } = edit;
  const line = source.slice(0, start).split('\n').length;
  return { ...edit, id: hash(file, source, start, end, replacement), file, line, original: source.slice(start, end) };
}

export const applyMutant = (source: string, { start, end, replacement }: Mutant): string =>
  source.slice(0, start) + replacement + source.slice(end);

/** Draws `size` mutants; all, if there are fewer. The same ones for the same seed and sources. */
export function sampleMutants(mutants: readonly Mutant[], seed: string, size: number): readonly Mutant[] {
  const keys = new Map(mutants.map((mutant) => [mutant, hash(seed, mutant.id)]));
  return [...mutants].sort((a, b) => (keys.get(a)! < keys.get(b)! ? -1 : 1)).slice(0, size);
}

/** Reads the output of `git diff --unified=0`: the lines that it adds or changes, by file. */
export function readChangedLines(diff: string): ReadonlyMap<string, ReadonlySet<number>> {
  const changed = new Map<string, Set<number>>();
  let file = '';
  for (const row of diff.split('\n')) {
    file = /^\+\+\+ b\/(.*)$/.exec(row)?.[1] ?? file;
    const [, from, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(row) ?? [];
    if (from === undefined) continue;
    const lines = changed.get(file) ?? new Set();
    for (let i = 0; i < Number(count); i++) lines.add(Number(from) + i);
    changed.set(file, lines);
  }
  return changed;
}
