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
