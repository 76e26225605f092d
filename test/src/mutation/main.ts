/**
 * `npm run mutation -- --files PATH… [options]`: generates mutants, runs the closest tests against each, and writes a
 * Markdown report to stdout. test/MUTATION.md describes the options.
 *
 * Exits with 1 when a test fails without a mutant or the score is below `--goal`, with 64 for wrong options.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startPostgresWithTemplateDatabase } from '../fixtures/postgres-with-template-database.js';
import { rankTests, readTestReach } from './covering-tests.js';
import { listMutants } from './list-mutants.js';
import { applyMutant, type Mutant, readChangedLines, sampleMutants } from './mutant.js';
import { computeScore, formatMutant, formatReport, type Result } from './report.js';
import { WorkingCopy } from './working-copy.js';

/** Of a test without a mutant; includes the start of vitest on a busy machine. */
const BASELINE_TIMEOUT_MS = 900_000;
const SLOWDOWN_MAX = 4;
const TIMEOUT_MIN_MS = 60_000;

const { values } = parseArgs({
  options: {
    files: { type: 'string', multiple: true },
    changed: { type: 'string' },
    operators: { type: 'string', default: '' },
    sample: { type: 'string', default: 'Infinity' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', multiple: true, default: [] },
    'tests-max': { type: 'string', default: '10' },
    jobs: { type: 'string', default: '1' },
    resume: { type: 'string', default: '' },
    goal: { type: 'string', default: '0' },
    list: { type: 'boolean', default: false },
  },
});
if (values.files === undefined && values.changed === undefined) {
  console.error('Name the sources: --files PATH, or --changed REVISION. See test/MUTATION.md.');
  process.exit(64);
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: root, maxBuffer: 1 << 28 }).toString();
const tracked = git('ls-files', '--cached', '--others', '--exclude-standard')
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));
const texts = new Map(
  tracked.filter((file) => /\.(?:tsx?|lua)$/.test(file)).map((file) => [file, readFileSync(join(root, file), 'utf8')]),
);
const changedLines =
  values.changed === undefined ? null : readChangedLines(git('diff', '--unified=0', values.changed, '--'));

const isSelected = (file: string): boolean =>
  /^(?:base|proto|dataplane|controlplane|singlenode)\/src\/.*\.(?:ts|lua)$/.test(file) &&
  !/\.test\.ts$|\.d\.ts$|\/testing\//.test(file) &&
  (values.files ?? ['']).some((path) => file.startsWith(path)) &&
  changedLines?.has(file) !== false;
const operators = new RegExp(values.operators, 'i');
/** Test files for each source, the closest ones. */
const testsMax = Number(values['tests-max']);
const selected = [...texts]
  .filter(([file]) => isSelected(file))
  .flatMap(([file, text]) => listMutants(file, text))
  .filter(({ file, line, operator }) => operators.test(operator) && changedLines?.get(file)?.has(line) !== false);
const mutants = sampleMutants(selected, values.seed, Number(values.sample));
if (values.list) {
  for (const mutant of mutants) console.log(formatMutant(mutant));
  process.exit(0);
}
const stored = existsSync(values.resume) ? readFileSync(values.resume, 'utf8').split('\n').filter(Boolean) : [];
const earlier = new Map(stored.map((row) => JSON.parse(row) as Result).map((result) => [result.id, result]));
const results = mutants.flatMap(({ id }) => earlier.get(id) ?? []);
const queue = mutants.filter(({ id }) => !earlier.has(id));

const reach = readTestReach(texts);
const timeouts = new Map<string, Promise<number>>();

/** Runs a test without a mutant: it must pass. Returns the timeout of its other runs, ms. */
async function measureTimeout(copy: WorkingCopy, test: string): Promise<number> {
  const startedAt = performance.now();
  const outcome = await copy.runTest(test, BASELINE_TIMEOUT_MS);
  const ms = Math.round(performance.now() - startedAt);
  console.error(`without a mutant: ${outcome} in ${ms} ms: ${test}`);
  if (outcome !== 'passed') throw new Error(`${test} fails without a mutant. Run it first.`);
  return Math.max(TIMEOUT_MIN_MS, ms * SLOWDOWN_MAX);
}

async function judge(copy: WorkingCopy, mutant: Mutant): Promise<Result> {
  const { file } = mutant;
  const source = texts.get(file)!;
  const tests: string[] = [];
  const candidates = new Set([...values.tests, ...rankTests(reach, file, testsMax)]);
  for (const test of [...candidates].slice(0, Math.max(testsMax, values.tests.length))) {
    tests.push(test);
    if (!timeouts.has(test)) timeouts.set(test, measureTimeout(copy, test));
    const timeoutMs = await timeouts.get(test)!;
    copy.write(file, applyMutant(source, mutant));
    const outcome = await copy.runTest(test, timeoutMs);
    copy.write(file, source);
    if (outcome !== 'passed') return { ...mutant, verdict: outcome === 'failed' ? 'killed' : 'timeout', tests };
  }
  if (tests.length === 0) return { ...mutant, verdict: 'untested', tests };
  copy.write(file, applyMutant(source, mutant));
  const compiles = file.endsWith('.lua') || (await copy.compiles(file));
  copy.write(file, source);
  return { ...mutant, verdict: compiles ? 'survived' : 'not compiled', tests };
}

/** Each working copy takes the next mutant until none is left. */
async function run(copies: readonly WorkingCopy[]): Promise<void> {
  const next = queue.values();
  await Promise.all(
    copies.map(async (copy) => {
      for (const mutant of next) {
        const result = await judge(copy, mutant);
        results.push(result);
        if (values.resume !== '') appendFileSync(values.resume, `${JSON.stringify(result)}\n`);
        console.error(`${results.length}/${mutants.length} ${result.verdict} ${formatMutant(result)}`);
      }
    }),
  );
}

if (queue.length > 0) {
  const cluster = await startPostgresWithTemplateDatabase();
  const copies = Array.from({ length: Number(values.jobs) }, () => new WorkingCopy(root, tracked, cluster.serverUrl));
  try {
    await run(copies);
  } finally {
    for (const copy of copies) copy.remove();
    await cluster.stop();
  }
}
console.log(formatReport(results));
process.exit(computeScore(results) < Number(values.goal) ? 1 : 0);
