/** The lists follow the code: a mutant whose code has changed must be adapted, or it tests nothing. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { applyMutant } from './mutant.js';
import { listMutantAreas } from './mutant-areas.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const sources = execFileSync('git', ['ls-files', 'controlplane/src'], { cwd: root }).toString().split('\n');

test('mutation: every listed mutant can be applied', () => {
  const areas = listMutantAreas(root, sources);
  expect(areas.flatMap(({ mutants }) => mutants).length).toBeGreaterThan(100);
  const stale = areas.flatMap(({ mutants }) => mutants.filter((mutant) => applyMutant(root, mutant) === null));
  expect(stale.map(({ file, bug }) => `${file}: ${bug}`)).toEqual([]);
});
