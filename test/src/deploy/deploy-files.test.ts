/** What can be checked of deploy/ without a container engine: syntax, environment variables, metric names. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'deploy'], { cwd: root })
  .toString()
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(root, path)));
/** Templates of the chart are YAML only once they are filled in. */
const yamlFiles = files.filter((path) => /\.ya?ml$/.test(path) && !path.startsWith('deploy/helm/templates/'));

function documents(path: string): unknown[] {
  return parseAllDocuments(read(path), { merge: true }).map((document) => {
    expect(document.errors, path).toEqual([]);
    return document.toJS();
  });
}

const settings = new Set(
  [
    'controlplane/src/config.ts',
    'controlplane/src/db/database-url.ts',
    'controlplane/src/vault/key-services/master-key-ring.ts',
    'dataplane/src/config.ts',
    'proto/src/link-tls-or-shared-secret.ts',
    'base/src/env-reader.ts',
  ]
    .map(read)
    .flatMap((text) => [...text.matchAll(/'([A-Z][A-Z0-9_]{3,})'/g)].map((match) => match[1]!)),
);

test('deploy: every YAML and JSON file parses', () => {
  expect(yamlFiles.length).toBeGreaterThan(6);
  for (const path of yamlFiles) documents(path);
  for (const path of files.filter((p) => p.endsWith('.json'))) JSON.parse(read(path));
});

test('deploy: compose sets only variables that the planes read', () => {
  const [compose] = documents('deploy/compose.yaml') as [
    { services: Record<string, { environment?: Record<string, string> }> },
  ];
  for (const name of ['controlplane', 'dataplane-1', 'dataplane-2']) {
    const names = Object.keys(compose.services[name]!.environment!);
    expect(names.length).toBeGreaterThan(3);
    for (const variable of names) expect(settings, `${name}: ${variable}`).toContain(variable);
  }
});

test('deploy: Kubernetes and the images set only variables that the planes read', () => {
  for (const path of ['deploy/kubernetes/controlplane.yaml', 'deploy/kubernetes/dataplane.yaml']) {
    const names = [...read(path).matchAll(/- (?:\{ )?name: ([A-Z][A-Z0-9_]+)/g)].map((match) => match[1]!);
    expect(names.length).toBeGreaterThan(3);
    for (const variable of names) expect(settings, `${path}: ${variable}`).toContain(variable);
  }
  const [configMap] = documents('deploy/kubernetes/settings.yaml') as [{ data: Record<string, string> }];
  for (const variable of Object.keys(configMap.data)) expect(settings).toContain(variable);
  for (const path of ['deploy/Dockerfile.controlplane', 'deploy/Dockerfile.dataplane']) {
    const line = /^ENV (.*)$/m.exec(read(path))![1]!;
    for (const pair of line.split(' ').filter((p) => !p.startsWith('NODE_ENV'))) {
      expect(settings, `${path}: ${pair}`).toContain(pair.split('=')[0]);
    }
  }
});

test('deploy: Kubernetes selectors match their pods, and every resource of the kustomization exists', () => {
  const [kustomization] = documents('deploy/kubernetes/kustomization.yaml') as [{ resources: string[] }];
  type Resource = {
    kind: string;
    spec: { selector?: Record<string, unknown>; template?: { metadata: { labels: Record<string, string> } } };
  };
  const all = kustomization.resources.flatMap((name) => documents(`deploy/kubernetes/${name}`) as Resource[]);
  const labels = all.flatMap((r) =>
    r.spec?.template === undefined ? [] : [JSON.stringify(r.spec.template.metadata.labels)],
  );
  expect(labels).toHaveLength(2);
  for (const { kind, spec } of all) {
    if (kind !== 'Service' && kind !== 'PodDisruptionBudget') continue;
    expect(labels).toContain(JSON.stringify(spec.selector?.matchLabels ?? spec.selector));
  }
});

test('deploy: rules and board use only metrics that the planes export', () => {
  const sources = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', 'dataplane/src', 'controlplane/src'],
    { cwd: root },
  )
    .toString()
    .split('\n')
    .filter((path) => path.endsWith('.ts') && existsSync(join(root, path)))
    .map(read)
    .join('\n');
  const used = `${read('deploy/prometheus/alerts.yml')}\n${read('deploy/grafana/dashboards/gateway.json')}`;
  const names = new Set([...used.matchAll(/\bgateway_[a-z_]+/g)].map((match) => match[0].replace(/_bucket$/, '')));
  expect(names.size).toBeGreaterThan(15);
  for (const name of names) expect(sources.includes(`'${name}'`), name).toBe(true);
});

test('deploy: every alert has an expression, a severity and a summary', () => {
  const [rules] = documents('deploy/prometheus/alerts.yml') as [
    {
      groups: {
        rules: { alert: string; expr: string; labels: { severity: string }; annotations: { summary: string } }[];
      }[];
    },
  ];
  for (const rule of rules.groups.flatMap((group) => group.rules)) {
    expect(rule.expr.trim(), rule.alert).not.toBe('');
    expect(rule.expr.split('(').length, rule.alert).toBe(rule.expr.split(')').length);
    expect(['critical', 'warning', 'info'], rule.alert).toContain(rule.labels.severity);
    expect(rule.annotations.summary, rule.alert).not.toBe('');
  }
});
