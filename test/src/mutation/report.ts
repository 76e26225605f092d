/** test/MUTATION.md: what came of the planted bugs. */
import type { Area } from './mutant.js';
import { type AreaResult, listMutantNames, listRunnableMutants, type Results } from './results.js';

/** Of the first sample, planted before there were lists: noticed and planted, by area. */
const FIRST_SAMPLE = [
  ['counters', 12, 17],
  ['stages', 12, 16],
  ['upstream', 17, 21],
  ['metering', 10, 11],
  ['spool', 5, 10],
  ['contexts', 6, 6],
  ['websocket', 2, 4],
  ['tenancy', 8, 13],
  ['identity', 10, 13],
  ['ledger', 6, 8],
  ['events', 3, 5],
  ['webhooks', 3, 5],
  ['circuit', 3, 5],
  ['link', 4, 7],
  ['secrets', 2, 4],
  ['egress', 7, 7],
] as const;

/** Of those that are not equivalent, in percent; 100 when there are none. */
export function killedPercent({ killed, survived }: Pick<AreaResult, 'killed' | 'survived'>): number {
  const planted = killed.length + survived.length;
  return planted === 0 ? 100 : (100 * killed.length) / planted;
}

const formatBugText = (bug: string): string => bug.replace(/^(\S+):/, '`$1`:').replaceAll('|', '\\|');
const formatList = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `\n## ${title}\n\n${lines.map((line) => `- ${line}`).join('\n')}\n`;

export function formatReport(areas: readonly Area[], results: Results): string {
  const run = areas.filter(({ name }) => results[name] !== undefined);
  const rows = run.map((area) => {
    const { date, node, killed, survived } = results[area.name]!;
    const equivalent = area.mutants.length - listRunnableMutants(area).length;
    const planted = killed.length + survived.length;
    const percent = killedPercent({ killed, survived }).toFixed(1);
    return `| ${area.name} | ${planted} | ${killed.length} | ${survived.length} | ${percent} | ${equivalent} | ${date}, ${node} |`;
  });
  const all = {
    killed: run.flatMap(({ name }) => results[name]!.killed),
    survived: run.flatMap(({ name }) => results[name]!.survived),
  };
  const equivalents = areas.flatMap((area) => {
    const names = listMutantNames(area);
    return area.mutants.flatMap(({ equivalent }, i) =>
      equivalent === undefined ? [] : [`${formatBugText(names[i]!)} — ${equivalent}`],
    );
  });
  const notRun = areas.flatMap((area) => {
    const { killed = [], survived = [] } = results[area.name] ?? {};
    const judged = new Set([...killed, ...survived]);
    return listRunnableMutants(area).flatMap(([name]) => (judged.has(name) ? [] : [formatBugText(name)]));
  });
  return `# Planted bugs

Small, plausible bugs, planted one at a time into the core; the tests near each must notice it. ${all.killed.length} of
${all.killed.length + all.survived.length} were noticed, ${killedPercent(all).toFixed(1)} %. This page is written by

\`\`\`sh
npm run mutation                          # everything: hours
npm run mutation -- --jobs 2 circuit link # some areas; the others stay as they were found last
npm run mutation -- --open                # only what no run has seen noticed
\`\`\`

A bug is a piece of text that stands in a file once and what stands there instead: the lists are in
\`test/src/mutation/mutants\`, one for each area. Those of the area "organization filters" are found in the sources:
every place in the control plane's SQL that holds rows to one organization is a bug when the condition is true for all.
Before any is planted, all tests that are relied on must pass. A run fails when an area is below 95 %. What stands in a
list and has no place in the code any more fails \`test/src/mutation/mutant-lists.test.ts\`.

Tests must not depend on how fast the machine is, either. On one core that is busy with something else:

\`\`\`sh
taskset -c 0 node -e 'for (;;);' & busy=$!
for run in 1 2 3; do taskset -c 0 npx vitest run --maxWorkers=1 || break; done
kill $busy
\`\`\`

## What came of it

| area | planted | noticed | unnoticed | % | equivalent, not planted | last run |
|---|---|---|---|---|---|---|
${rows.join('\n')}

## Before

Of a first sample of 155 bugs, planted before there were lists, 113 were noticed and 42 were not. Of three that were
noticed the area was not kept:

| area | planted | noticed |
|---|---|---|
${FIRST_SAMPLE.map(([name, seen, of]) => `| ${name} | ${of} | ${seen} |`).join('\n')}
${formatList(
  'Unnoticed',
  run.flatMap(({ name }) => results[name]!.survived.map((bug) => `${name}: ${formatBugText(bug)}`)),
)}${formatList('Listed, not run since they were added or changed', notRun)}${formatList('Equivalent: nobody can see a difference', equivalents)}`;
}
