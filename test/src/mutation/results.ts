/**
 * Results of the mutants by area. They are kept in the repository, because a full run takes hours. A run covers whole
 * areas, or only the mutants that no earlier run has killed.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Area, Mutant } from './mutant.js';

export interface AreaResult {
  /** `YYYY-MM-DD` of the last run. */
  readonly date: string;
  /** Version of Node. */
  readonly node: string;
  /** Names of {@link listMutantNames}. */
  readonly killed: readonly string[];
  readonly survived: readonly string[];
}

/** By the name of the area. */
export type Results = Readonly<Record<string, AreaResult>>;

/** Names of the mutants of an area in the results, in order. Mutants of one file with the same text get a number. */
export function listMutantNames({ mutants }: Area): readonly string[] {
  const seen = new Map<string, number>();
  return mutants.map((mutant) => {
    const name = `${mutant.file}: ${mutant.bug}`;
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return times === 1 ? name : `${name} (${times})`;
  });
}

/** Mutants without a verdict, or that survived, with their names. */
export function listUnkilledMutants(area: Area, results: Results): readonly (readonly [string, Mutant])[] {
  const killed = new Set(results[area.name]?.killed);
  return listRunnableMutants(area).filter(([name]) => !killed.has(name));
}

/** All mutants that are not equivalent, with their names. */
export function listRunnableMutants(area: Area): readonly (readonly [string, Mutant])[] {
  const names = listMutantNames(area);
  return area.mutants.map((mutant, i) => [names[i]!, mutant] as const).filter(([, m]) => m.equivalent === undefined);
}

/** Merges the verdicts of a run into earlier ones; drops mutants that are no longer listed. */
export function mergeResults(area: Area, before: AreaResult | undefined, ran: AreaResult): AreaResult {
  const names = listRunnableMutants(area).map(([name]) => name);
  const again = new Set([...ran.killed, ...ran.survived]);
  const keep = (kind: 'killed' | 'survived'): readonly string[] => {
    const all = new Set([...(before?.[kind] ?? []).filter((name) => !again.has(name)), ...ran[kind]]);
    return names.filter((name) => all.has(name));
  };
  const { date, node } = before !== undefined && again.size === 0 ? before : ran;
  return { date, node, killed: keep('killed'), survived: keep('survived') };
}

export function readResults(path: string): Results {
  return JSON.parse(readFileSync(path, 'utf8')) as Results;
}

export function writeResults(path: string, results: Results): void {
  const sorted = Object.fromEntries(Object.entries(results).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(path, `${JSON.stringify(sorted, null, 2)}\n`);
}
