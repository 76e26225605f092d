/**
 * `npm run mutation [-- --jobs N] [--open | --page] [area…]`: applies the listed mutants one at a time, runs the tests
 * near each, and reports the surviving ones. No area: all. `--open`: only mutants that no earlier run has killed;
 * `--page`: none, writes the page only.
 *
 * Rewrites test/MUTATION.md and test/mutation.json and keeps earlier results of the other areas. Exits with 1 when an
 * area of the run is below 95 %.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startTemplateCluster } from '../fixtures/template-cluster.js';
import type { Area, Mutant } from './mutant.js';
import { listMutantAreas } from './mutant-areas.js';
import { MutatedWorkingCopy, type Verdict } from './mutated-working-copy.js';
import { formatReport, killedPercent } from './report.js';
import {
  listRunnableMutants,
  listUnkilledMutants,
  mergeResults,
  type Results,
  readResults,
  writeResults,
} from './results.js';

const GOAL_PERCENT = 95;
const root = fileURLToPath(new URL('../../..', import.meta.url));
const RESULTS = join(root, 'test/mutation.json');
const { values, positionals } = parseArgs({
  options: { jobs: { type: 'string' }, open: { type: 'boolean' }, page: { type: 'boolean' } },
  allowPositionals: true,
});
const jobs = Number(values.jobs ?? Math.max(1, Math.floor(availableParallelism() / 2)));
const sources = execFileSync('git', ['ls-files', 'controlplane/src'], { cwd: root }).toString().split('\n');
const known = listMutantAreas(root, sources);
for (const name of positionals) {
  if (known.some((area) => area.name === name)) continue;
  console.error(`No area "${name}". Areas: ${known.map((area) => area.name).join(', ')}.`);
  process.exit(64);
}
const areas = positionals.length === 0 ? known : known.filter(({ name }) => positionals.includes(name));
const before = readResults(RESULTS);

interface Job {
  readonly area: string;
  readonly name: string;
  readonly mutant: Mutant;
  readonly tests: readonly string[];
  readonly built: boolean;
}

/** The mutants of an area to run. */
function selectMutants(area: Area): ReturnType<typeof listRunnableMutants> {
  if (values.page === true) return [];
  return values.open === true ? listUnkilledMutants(area, before) : listRunnableMutants(area);
}

const queuedMutants: Job[] = areas.flatMap((area) =>
  selectMutants(area).map(([name, mutant]) => {
    return { area: area.name, name, mutant, tests: mutant.tests ?? area.tests, built: mutant.built ?? area.built };
  }),
);
const total = queuedMutants.length;
const verdicts: (Job & { readonly verdict: Verdict })[] = [];
console.log(`${total} mutants, ${jobs} at a time`);

/** Merges the verdicts of this run into the latest results on disk, so that an aborted run loses none. */
function mergeAndSaveResults(): Results {
  const latest = readResults(RESULTS);
  const ran = areas.filter(({ name }) => verdicts.some((job) => job.area === name) || latest[name] !== undefined);
  const results: Results = {
    ...latest,
    ...Object.fromEntries(
      ran.map((area) => {
        const named = (wanted: Verdict): readonly string[] =>
          verdicts.filter((job) => job.area === area.name && job.verdict === wanted).map((job) => job.name);
        const now = { date: new Date().toISOString().slice(0, 10), node: process.version };
        return [
          area.name,
          mergeResults(area, latest[area.name], { ...now, killed: named('killed'), survived: named('survived') }),
        ];
      }),
    ),
  };
  writeResults(RESULTS, results);
  return results;
}

async function runQueuedMutants(databaseServerUrl: string): Promise<void> {
  const tree = new MutatedWorkingCopy(root, databaseServerUrl);
  try {
    for (let job = queuedMutants.shift(); job !== undefined; job = queuedMutants.shift()) {
      const verdict = await tree.runMutant(job.mutant, job.tests, job.built);
      verdicts.push({ ...job, verdict });
      mergeAndSaveResults();
      console.log(`${verdicts.length}/${total} ${verdict.padEnd(8)} ${job.area}: ${job.name}`);
    }
  } finally {
    tree.remove();
  }
}

/** All tests that the mutants of this run use. */
const testSets = [...new Set(queuedMutants.flatMap(({ tests }) => tests))];

/** Whether they pass without a mutant. */
async function checkTestsPassUnmutated(databaseServerUrl: string): Promise<boolean> {
  const tree = new MutatedWorkingCopy(root, databaseServerUrl);
  try {
    return await tree.doTestsPass(testSets, jobs);
  } finally {
    tree.remove();
  }
}

if (total > 0) {
  const cluster = await startTemplateCluster();
  try {
    if (!(await checkTestsPassUnmutated(cluster.serverUrl))) {
      throw new Error(`tests fail without a mutant; run them first: ${testSets.join(' ')}`);
    }
    await Promise.all(Array.from({ length: Math.min(jobs, total) }, () => runQueuedMutants(cluster.serverUrl)));
  } finally {
    await cluster.stop();
  }
}
const unusable = verdicts.filter(({ verdict }) => verdict === 'stale' || verdict === 'invalid');
const results = mergeAndSaveResults();
writeFileSync(join(root, 'test/MUTATION.md'), formatReport(known, results));
for (const { area, name, verdict } of unusable) console.error(`${area}: ${name}: ${verdict}`);
const areasBelowGoal = areas.filter(
  ({ name }) => results[name] !== undefined && killedPercent(results[name]) < GOAL_PERCENT,
);
for (const { name } of areasBelowGoal) {
  console.error(`${name}: ${killedPercent(results[name]!).toFixed(1)} %`);
  for (const bug of results[name]!.survived) console.error(`  ${bug}`);
}
process.exit(areasBelowGoal.length === 0 && unusable.length === 0 ? 0 : 1);
