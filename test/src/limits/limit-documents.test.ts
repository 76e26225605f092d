/** What is written for people names every limit that there is. */
import { readFileSync } from 'node:fs';
import { LIMIT_TABLE } from '@acg/dataplane/counters/limit-table';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const types = [...new Set(LIMIT_TABLE.map(({ type }) => type))];
const perProvider = LIMIT_TABLE.filter(({ scope }) => scope === 'agent_provider').map(({ type }) => type);

test('README: each has its 429, and its figures in the answer of /v1/self', () => {
  const readme = read('README.md');
  const refusals = [...readme.matchAll(/^\| 429 `limitType: ([^|]*)\|/gm)].map(([, names]) => names);
  const named = refusals.flatMap((names) => names!.match(/\w+/g));
  expect(named.sort()).toEqual([...types].sort());
  const [, limits] = /limits\{([\w,]*)\}/.exec(readme)!;
  expect(limits!.split(',').map((name) => name.replace('Cents', ''))).toEqual(types);
  for (const type of perProvider) expect(readme).toContain(`${type}Remaining,${type}ResetAt`);
});

test('gateway.proto: each value of a Limit’s fields stands beside it', () => {
  const [message] = /^message Limit \{[^}]*\}/m.exec(read('proto/src/gateway.proto'))!;
  for (const field of ['type', 'window', 'unit', 'scope'] as const) {
    const [, comment] = new RegExp(`string ${field} = \\d+; +// (.*)`).exec(message)!;
    const named = comment!.split(' | ').map((value) => value.replace(/ \(.*/, ''));
    expect(new Set(named), field).toEqual(new Set(LIMIT_TABLE.map((row) => row[field])));
  }
});
