/**
 * `npm run mutation [-- --jobs N] [--open | --page] [area…]`: plants the bugs of the lists one at a time, runs the tests near
 * each, and says which were not noticed. No area: all. `--open`: only those that no run before has seen noticed;
 * `--page`: none.
 * Rewrites test/MUTATION.md and test/mutation.json, with what earlier runs found of the other areas. Exit 1 when an area
 * that was run is below 95 %.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startTemplateCluster } from '../template-cluster.js';
import { allAreas } from './areas.js';
import type { Area, Mutant } from './mutant.js';
import { percentOf, report } from './report.js';
import { merged, openMutants, plantable, type Results, readResults, writeResults } from './results.js';
import { Tree, type Verdict } from './tree.js';

const GOAL_PERCENT = 95;
const root = fileURLToPath(new URL('../../..', import.meta.url));
const RESULTS = join(root, 'test/mutation.json');
const { values, positionals } = parseArgs({
  options: { jobs: { type: 'string' }, open: { type: 'boolean' }, page: { type: 'boolean' } },
  allowPositionals: true,
});
const jobs = Number(values.jobs ?? Math.max(1, Math.floor(availableParallelism() / 2)));
const sources = execFileSync('git', ['ls-files', 'controlplane/src'], { cwd: root }).toString().split('\n');
const known = allAreas(root, sources);
for (const name of positionals) {
  if (known.some((area) => area.name === name)) continue;
  console.error(`No area "${name}". There are: ${known.map((area) => area.name).join(', ')}.`);
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

/** What of an area is planted now. */
function chosen(area: Area): ReturnType<typeof plantable> {
  if (values.page === true) return [];
  return values.open === true ? openMutants(area, before) : plantable(area);
}

const waiting: Job[] = areas.flatMap((area) =>
  chosen(area).map(([name, mutant]) => {
    return { area: area.name, name, mutant, tests: mutant.tests ?? area.tests, built: mutant.built ?? area.built };
  }),
);
const total = waiting.length;
const judged: (Job & { readonly verdict: Verdict })[] = [];
console.log(`${total} bugs, ${jobs} at a time`);

/** Keeps what is known so far beside what other runs have found meanwhile: hours are not lost when a run is cut off. */
function keep(): Results {
  const latest = readResults(RESULTS);
  const ran = areas.filter(({ name }) => judged.some((job) => job.area === name) || latest[name] !== undefined);
  const results: Results = {
    ...latest,
    ...Object.fromEntries(
      ran.map((area) => {
        const named = (wanted: Verdict): readonly string[] =>
          judged.filter((job) => job.area === area.name && job.verdict === wanted).map((job) => job.name);
        const now = { date: new Date().toISOString().slice(0, 10), node: process.version };
        return [
          area.name,
          merged(area, latest[area.name], { ...now, killed: named('killed'), survived: named('survived') }),
        ];
      }),
    ),
  };
  writeResults(RESULTS, results);
  return results;
}

async function work(databaseServerUrl: string): Promise<void> {
  const tree = new Tree(root, databaseServerUrl);
  try {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const verdict = await tree.judge(job.mutant, job.tests, job.built);
      judged.push({ ...job, verdict });
      keep();
      console.log(`${judged.length}/${total} ${verdict.padEnd(8)} ${job.area}: ${job.name}`);
    }
  } finally {
    tree.remove();
  }
}

/** All tests that are relied on. */
const sets = [...new Set(waiting.flatMap(({ tests }) => tests))];

/** They pass while nothing is planted. */
async function checkTests(databaseServerUrl: string): Promise<boolean> {
  const tree = new Tree(root, databaseServerUrl);
  try {
    return await tree.passes(sets, jobs);
  } finally {
    tree.remove();
  }
}

if (total > 0) {
  const cluster = await startTemplateCluster();
  try {
    if (!(await checkTests(cluster.serverUrl))) {
      throw new Error(`tests fail without any bug planted; run them first: ${sets.join(' ')}`);
    }
    await Promise.all(Array.from({ length: Math.min(jobs, total) }, () => work(cluster.serverUrl)));
  } finally {
    await cluster.stop();
  }
}
const unusable = judged.filter(({ verdict }) => verdict === 'stale' || verdict === 'invalid');
const results = keep();
writeFileSync(join(root, 'test/MUTATION.md'), report(known, results));
for (const { area, name, verdict } of unusable) console.error(`${area}: ${name}: ${verdict}`);
const low = areas.filter(({ name }) => results[name] !== undefined && percentOf(results[name]) < GOAL_PERCENT);
for (const { name } of low) {
  console.error(`${name}: ${percentOf(results[name]!).toFixed(1)} %`);
  for (const bug of results[name]!.survived) console.error(`  ${bug}`);
}
process.exit(low.length === 0 && unusable.length === 0 ? 0 : 1);
