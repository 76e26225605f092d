/**
 * `npm run mutation [-- --jobs N] [area…]`: plants the bugs of the lists one at a time, runs the tests near each, and
 * says which were not noticed. With no area it takes all and rewrites test/MUTATION.md. Exit 1 below 95 %.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { allAreas } from './areas.js';
import type { Mutant } from './mutant.js';
import { type Judged, writeReport } from './report.js';
import { Tree } from './tree.js';

const GOAL_PERCENT = 95;
const root = fileURLToPath(new URL('../../..', import.meta.url));
const { values, positionals } = parseArgs({ options: { jobs: { type: 'string' } }, allowPositionals: true });
const jobs = Number(values.jobs ?? Math.max(1, Math.floor(availableParallelism() / 2)));
const sources = execFileSync('git', ['ls-files', 'controlplane/src'], { cwd: root }).toString().split('\n');
const known = allAreas(root, sources);
for (const name of positionals) {
  if (known.some((area) => area.name === name)) continue;
  console.error(`No area "${name}". There are: ${known.map((area) => area.name).join(', ')}.`);
  process.exit(64);
}
const areas = positionals.length === 0 ? known : known.filter(({ name }) => positionals.includes(name));

interface Job {
  readonly area: string;
  readonly mutant: Mutant;
  readonly tests: readonly string[];
  readonly built: boolean;
}

const waiting: Job[] = areas.flatMap((area) =>
  area.mutants
    .filter(({ equivalent }) => equivalent === undefined)
    .map((mutant) => ({ area: area.name, mutant, tests: mutant.tests ?? area.tests, built: area.built })),
);
const total = waiting.length;
const judged: Judged[] = [];
console.log(`${total} bugs, ${jobs} at a time`);

async function work(): Promise<void> {
  const tree = new Tree(root);
  try {
    if (!(await tree.build())) throw new Error('the tree does not build');
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const { area, mutant, tests, built } = job;
      const verdict = await tree.judge(mutant, tests, built);
      judged.push({ area, mutant, verdict });
      console.log(`${judged.length}/${total} ${verdict.padEnd(8)} ${area}: ${mutant.file}: ${mutant.bug}`);
    }
  } finally {
    tree.remove();
  }
}

/** Every set of tests that a mutant relies on passes while nothing is planted. */
async function checkTests(): Promise<void> {
  const sets = [...new Set(waiting.flatMap(({ tests }) => tests))];
  const tree = new Tree(root);
  try {
    if (!(await tree.build())) throw new Error('the tree does not build');
    if (await tree.passes(sets)) return;
    console.error('Tests fail without any bug planted; run them first: ' + sets.join(' '));
    process.exit(1);
  } finally {
    tree.remove();
  }
}

await checkTests();
await Promise.all(Array.from({ length: Math.min(jobs, total) }, work));
judged.sort((a, b) => (`${a.area}${a.mutant.file}` < `${b.area}${b.mutant.file}` ? -1 : 1));
const report = writeReport(areas, judged);
if (positionals.length === 0) writeFileSync(join(root, 'test/MUTATION.md'), report.text);
console.log(report.text);
process.exit(report.killedPercent >= GOAL_PERCENT && report.unusable === 0 ? 0 : 1);
