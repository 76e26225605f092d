/** Choice of mutants, of the tests that run against them, and the report. */
import { expect, test } from 'vitest';
import { rankTests, readTestReach } from './covering-tests.js';
import { listMutants } from './list-mutants.js';
import { applyMutant, createMutant, readChangedLines, sampleMutants } from './mutant.js';
import { computeScore, formatReport, type Result } from './report.js';

test('mutant: replaces its range and names its line', () => {
  const source = 'a();\nx = b < c;\n';
  const mutant = createMutant('f.ts', source, { start: 11, end: 12, replacement: '<=', operator: 'boundary' });
  expect(mutant).toMatchObject({ line: 2, original: '<' });
  expect(applyMutant(source, mutant)).toBe('a();\nx = b <= c;\n');
});

test('mutant: its id changes with the source, the file and the replacement', () => {
  const edit = { start: 0, end: 1, replacement: 'b', operator: 'x' };
  const ids = [
    createMutant('f.ts', 'a', edit),
    createMutant('f.ts', 'a ', edit),
    createMutant('g.ts', 'a', edit),
    createMutant('f.ts', 'a', { ...edit, replacement: 'c' }),
  ].map(({ id }) => id);
  expect(new Set(ids).size).toBe(4);
  expect(createMutant('f.ts', 'a', edit).id).toBe(ids[0]);
});

test('sample: the same for the same seed, another one for another seed, and all when there are fewer', () => {
  const mutants = listMutants('f.ts', 'x = 1; y = 2; z = a < b; f(); g(); if (h) i(); j = k + l;');
  const draw = (seed: string, size: number): readonly string[] =>
    sampleMutants(mutants, seed, size).map(({ id }) => id);
  expect(draw('a', 5)).toHaveLength(5);
  expect(draw('a', 5)).toEqual(draw('a', 5));
  expect(draw('a', 5)).not.toEqual(draw('b', 5));
  expect(draw('a', 1_000).toSorted()).toEqual(mutants.map(({ id }) => id).toSorted());
});

test('changed lines: those that a diff adds or changes, not the deleted ones', () => {
  const diff = `diff --git a/a.ts b/a.ts
--- a/a.ts
+++ b/a.ts
@@ -3 +3,2 @@ function f() {
-old
+new
+newer
@@ -9,2 +10,0 @@
-gone
-gone
--- a/b.ts
+++ b/b.ts
@@ -1 +1 @@
-x
+y
`;
  expect(readChangedLines(diff)).toEqual(
    new Map([
      ['a.ts', new Set([3, 4])],
      ['b.ts', new Set([1])],
    ]),
  );
});

test('tests of a source: beside it, then named like it or its folder, then fewest imports away', () => {
  const files = new Map([
    ['dataplane/src/spool/queue.ts', "import { a } from './format.js';"],
    ['dataplane/src/spool/format.ts', "readFileSync(new URL('./load.lua', import.meta.url))"],
    ['dataplane/src/spool/load.lua', 'return 1'],
    ['dataplane/src/spool/queue.test.ts', "import { a } from './queue.js';"],
    ['dataplane/src/main.ts', "import { a } from './spool/queue.js';"],
    ['test/src/other.test.ts', "import { a } from '@acg/dataplane/spool/format';"],
    ['test/src/far.test.ts', "import { a } from '@acg/dataplane/main';"],
    ['test/src/spools/upgrade.test.ts', "import { a } from '@acg/dataplane/main';"],
    ['test/src/types.test.ts', "import type { A } from '@acg/dataplane/spool/format';"],
  ]);
  const reach = readTestReach(files);
  expect(rankTests(reach, 'dataplane/src/spool/format.ts', 9)).toEqual([
    'dataplane/src/spool/queue.test.ts',
    'test/src/other.test.ts',
    'test/src/spools/upgrade.test.ts',
    'test/src/far.test.ts',
  ]);
  expect(rankTests(reach, 'dataplane/src/spool/load.lua', 2)).toEqual([
    'dataplane/src/spool/queue.test.ts',
    'test/src/other.test.ts',
  ]);
  expect(rankTests(reach, 'dataplane/src/unused.ts', 9)).toEqual([]);
});

test('report: counts by file and in all, a timeout as killed, and lists the survivors', () => {
  const [first, second, third, fourth] = listMutants('f.ts', 'x = a < b && c;\ny = 1;');
  const results: readonly Result[] = [
    { ...first!, verdict: 'killed', tests: ['a.test.ts'] },
    { ...second!, verdict: 'timeout', tests: ['a.test.ts'] },
    { ...third!, verdict: 'not compiled', tests: ['a.test.ts'] },
    { ...fourth!, file: 'g.ts', verdict: 'survived', tests: ['a.test.ts', 'b.test.ts'] },
  ];
  expect(computeScore(results)).toBeCloseTo(66.7, 1);
  expect(computeScore([])).toBe(100);
  expect(formatReport(results).split('\n')).toEqual([
    '| file | mutants | killed | timeout | survived | not compiled | untested | score % |',
    '|---|---|---|---|---|---|---|---|',
    '| f.ts | 3 | 1 | 1 | 0 | 1 | 0 | 100.0 |',
    '| g.ts | 1 | 0 | 0 | 1 | 0 | 0 | 0.0 |',
    '| all | 4 | 1 | 1 | 1 | 1 | 0 | 66.7 |',
    '',
    `- \`g.ts:${fourth!.line}\` ${fourth!.operator}: \`${fourth!.original}\` → \`${fourth!.replacement}\`; passed: a.test.ts, b.test.ts`,
    '',
  ]);
});
