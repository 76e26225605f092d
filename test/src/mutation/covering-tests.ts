/**
 * Finds the test files that are most likely to notice a change of a source file, from the import graph. No list: moving
 * code or tests moves the answer. Tests that reach the file only in a started process are not found.
 */
import { basename, dirname, join } from 'node:path';
import { resolveImport } from '../import-graph.js';

const RUNTIME_IMPORT = /^(?:import|export)\s+(?!type\b)[^;]*?from\s+'([^']+)'|\b(?:import|new URL)\('([^']+)'/gm;

/** Tests further away load a source only because they load everything; some of them run where none is closer. */
const COST_MAX = 3;
const FAR_TESTS_MAX = 3;

/** By test file: the distance in imports of each file that it loads. */
type TestReach = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** `files`: sources and tests, path → text. */
export function readTestReach(files: ReadonlyMap<string, string>): TestReach {
  const findTarget = (path: string, target: string): string =>
    target.endsWith('.lua') ? join(dirname(path), target) : resolveImport(path, target, files);
  const imports = new Map(
    [...files].map(([path, text]) => [
      path,
      Array.from(text.matchAll(RUNTIME_IMPORT), ([, from, dynamic]) => findTarget(path, (from ?? dynamic)!)),
    ]),
  );
  const tests = [...files.keys()].filter((path) => path.endsWith('.test.ts'));
  return new Map(
    tests.map((test) => {
      const distances = new Map([[test, 0]]);
      for (const [path, distance] of distances) {
        for (const target of imports.get(path) ?? []) {
          if (imports.has(target) && !distances.has(target)) distances.set(target, distance + 1);
        }
      }
      return [test, distances];
    }),
  );
}

/** `max` tests of a source file, the closest first: beside it, named like it or its folder, few imports away. */
export function rankTests(reach: TestReach, file: string, max: number): readonly string[] {
  const words = pathWords(file);
  const cost = (test: string, distance: number): number => {
    const shared = [...pathWords(test)].filter((word) => words.has(word)).length;
    return dirname(test) === dirname(file) ? distance - 10 : distance - 2 * shared;
  };
  return [...reach]
    .flatMap(([test, distances]) => {
      const distance = distances.get(file);
      return distance === undefined ? [] : [{ test, cost: cost(test, distance), size: distances.size }];
    })
    .sort((a, b) => a.cost - b.cost || a.size - b.size || (a.test < b.test ? -1 : 1))
    .filter((found, i) => i < max && (i < FAR_TESTS_MAX || found.cost <= COST_MAX))
    .map(({ test }) => test);
}

/** Words of a path in the singular, without the workspace and the ending. */
const pathWords = (path: string): ReadonlySet<string> =>
  new Set(
    [...dirname(path).split('/src/').slice(1), basename(path).split('.')[0]!]
      .flatMap((part) => part.split(/[/-]/))
      .map((word) => word.replace(/s$/, '')),
  );
