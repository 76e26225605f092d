// Sums up Vitest's JSON reports: the slowest files of all runs, the failed tests of each run with the start of their errors,
// then one line of counts for each run. The last line is `N passed, N failed`; the exit code is 0 only without failures. A run without a report counts
// as one failure. Without a failed test, each failed step (lint, an error outside of tests) counts as one:
//
//   node scripts/sum-test-reports.mjs FOLDER FAILED_STEPS NAME …     (reads FOLDER/NAME.json)
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const ERROR_LINES = 8;
const SLOWEST_FILES = 10;

const [folder, failedSteps, ...names] = process.argv.slice(2);
let passed = 0;
let failed = 0;
const figures = [];
const durations = [];

/** A run without a report counts as a failure with no passed test. */
function read(name) {
  try {
    return JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
  } catch {
    console.log(`--- ${name}: no report`);
    return null;
  }
}

function tell(name, file, title, message) {
  console.log(`--- ${name} failed: ${relative(process.cwd(), file)} > ${title}`);
  // Name that the runner gives to the error of a test or hook that timed out.
  const text = (message ?? '').replace('Error: STACK_TRACE_ERROR', 'Error: not done in time');
  const lines = stripVTControlCharacters(text).trimEnd();
  for (const line of lines.split('\n').slice(0, ERROR_LINES)) console.log(`    ${line}`);
}

for (const name of names) {
  const report = read(name);
  let failures = report === null ? 1 : 0;
  for (const file of report?.testResults ?? []) {
    durations.push({
      name,
      path: relative(process.cwd(), file.name),
      seconds: (file.endTime - file.startTime) / 1_000,
    });
    const tests = file.assertionResults.filter((test) => test.status === 'failed');
    for (const test of tests) tell(name, file.name, test.fullName, test.failureMessages.join('\n'));
    failures += tests.length;
    if (file.status !== 'failed' || tests.length > 0) continue;
    // The file itself failed: it does not load, or a hook fails.
    tell(name, file.name, '(the file)', file.message || 'a hook failed: its error stands where the run ended');
    failures += 1;
  }
  const sum = report?.numPassedTests ?? 0;
  figures.push(`--- ${name}: ${sum} passed, ${failures} failed`);
  passed += sum;
  failed += failures;
}
durations.sort((one, other) => other.seconds - one.seconds);
console.log(`--- the ${SLOWEST_FILES} slowest files:`);
for (const { name, path, seconds } of durations.slice(0, SLOWEST_FILES)) {
  console.log(`    ${seconds.toFixed(1).padStart(6)} s  ${name}  ${path}`);
}
for (const line of figures) console.log(line);
if (failed === 0) failed = Number(failedSteps);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
