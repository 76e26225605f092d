/** Rules, scrape configuration and alert routes, judged by the programs that will read them. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { operatorTool, repositoryRoot } from './operator-tools.js';

function run(name: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(operatorTool(name), args, { cwd: repositoryRoot, encoding: 'utf8' });
  expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, '']);
  return stdout;
}

test('monitoring: Prometheus accepts its configuration and every rule', () => {
  expect(run('promtool', 'check', 'config', 'deploy/prometheus/prometheus.yml')).toMatch(/1 rule files? found/);
});

test('monitoring: alerts go off when they should and not before', () => {
  expect(run('promtool', 'test', 'rules', 'deploy/prometheus/alerts.test.yml')).toContain('SUCCESS');
});

test('monitoring: Alertmanager accepts its routes, critical alerts reach the pager and the rest does not', () => {
  const file = 'deploy/alertmanager/alertmanager.yml';
  run('amtool', 'check-config', file);
  for (const [severity, receiver] of [
    ['critical', 'pager'],
    ['warning', 'chat'],
    ['info', 'nobody'],
  ] as const) {
    expect(run('amtool', 'config', 'routes', 'test', `--config.file=${file}`, `severity=${severity}`).trim()).toBe(
      receiver,
    );
  }
});

test('monitoring: alerts are silenced by alerts that exist', () => {
  const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');
  const rules = parse(read('deploy/prometheus/alerts.yml')) as { groups: { rules: { alert: string }[] }[] };
  const known = rules.groups.flatMap((group) => group.rules.map((rule) => rule.alert));
  const named = [...read('deploy/alertmanager/alertmanager.yml').matchAll(/\bGateway[A-Za-z]+/g)].map(([name]) => name);
  expect(named.length).toBeGreaterThan(2);
  expect(known).toEqual(expect.arrayContaining(named));
});

test('monitoring: the runbook has an entry for each alert and for no other: its meaning, what to look at, what to do', () => {
  const rules = readFileSync(join(repositoryRoot, 'deploy/prometheus/alerts.yml'), 'utf8');
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name!);
  const [, ...entries] = readFileSync(join(repositoryRoot, 'docs/runbook.md'), 'utf8').split(/^## /m);
  expect(entries.map((entry) => entry.split('\n', 1)[0]).sort()).toEqual([...alerts].sort());
  for (const entry of entries) {
    for (const part of ['Meaning', 'Look at', 'Do'])
      expect(entry).toMatch(new RegExp(`^- \\*\\*${part}\\.\\*\\* \\S`, 'm'));
  }
});

test('monitoring: the runbook names only metrics and variables that the planes have', () => {
  const runbook = readFileSync(join(repositoryRoot, 'docs/runbook.md'), 'utf8');
  const sources = spawnSync('git', ['grep', '-hoE', "'gateway_[a-z_]+'", '--', 'dataplane/src', 'controlplane/src'], {
    cwd: repositoryRoot,
    encoding: 'utf8',
  }).stdout;
  const names = [...runbook.matchAll(/`(gateway_[a-z_]+)/g)].map(([, name]) => name!);
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name) => !sources.includes(`'${name}'`))).toEqual([]);
});
