/** The Kubernetes files as kubectl reads them, the chart, and the steps that the README prints. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig as loadControlPlane } from '@acg/controlplane/config';
import { loadConfig as loadDataPlane } from '@acg/dataplane/config';
import { afterAll, expect, test } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { operatorTool, repositoryRoot } from './operator-tools.js';
import { type Resource, renderChart, renderTemplate } from './render-chart-without-helm.js';

const NAMESPACE = 'agent-credential-gateway';
const home = mkdtempSync(join(tmpdir(), 'acg-kubernetes-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const parseYamlDocuments = (text: string): Resource[] => parseAllDocuments(text).map((one) => one.toJS() as Resource);
const kubectl = (...args: string[]): string =>
  execFileSync(operatorTool('kubectl'), args, {
    cwd: repositoryRoot,
    encoding: 'utf8',
    env: { HOME: home, PATH: process.env.PATH },
  });
const resourcesByName = (resources: readonly Resource[]): Record<string, Resource> =>
  Object.fromEntries(resources.map((one) => [`${one.kind} ${one.metadata.name}`, one]));

const kustomized = parseYamlDocuments(kubectl('kustomize', 'deploy/kubernetes'));

test('Kubernetes: kubectl builds the base; everything is in one namespace, images have a registry and a version', () => {
  expect(kustomized.length).toBeGreaterThan(11);
  for (const one of kustomized) {
    const namespace = one.kind === 'Namespace' ? one.metadata.name : one.metadata.namespace;
    expect([one.metadata.name, namespace]).toEqual([one.metadata.name, NAMESPACE]);
  }
  const images = kustomized.flatMap(
    (one) => one.spec?.template?.spec.containers.map((c: { image: string }) => c.image) ?? [],
  );
  expect(images).toEqual(['registry.example.com/acg-controlplane:0.1.0', 'registry.example.com/acg-dataplane:0.1.0']);
});

test('Helm: the chart equals the kustomize base except for the namespace, which helm creates', () => {
  const chart = resourcesByName(renderChart(join(repositoryRoot, 'deploy/helm'), NAMESPACE));
  expect(chart).toEqual(resourcesByName(kustomized.filter((one) => one.kind !== 'Namespace')));
});

test('Helm: a template with unknown syntax is an error', () => {
  for (const text of [
    '{{ if .Values.a }}',
    '{{ .Values.a | quote }}',
    '{{- .Values.a }}',
    '{{.Values.a}}',
    '{{ .Values.b }}',
  ]) {
    expect(() => renderTemplate(text, { Values: { a: 'x' } }), text).toThrow();
  }
});

/** The commands of the README's section on Kubernetes. */
function readmeCommands(): string {
  const readme = readFileSync(join(repositoryRoot, 'deploy/README.md'), 'utf8');
  return /## Kubernetes\n.*?```sh\n(.*?)```/s.exec(readme)![1]!;
}

/** Output of the printed `kubectl create …` commands, without a cluster. */
function resourcesFromReadme(): Record<string, Resource> {
  const [certificates, ...steps] = readmeCommands().replaceAll('deploy/tls', `${home}/tls`).split('\n');
  const local = steps
    .join('\n')
    .replaceAll(/^kubectl (?:config|label|apply) .*$/gm, '')
    .replaceAll(/^(kubectl create (?:.*\\\n)*.*)$/gm, '$1 --dry-run=client -o yaml; echo ---');
  const script = `set -eu\nkubectl() { ${operatorTool('kubectl')} "$@"; }\n${certificates} >/dev/null\n${local}`;
  const env = { HOME: home, PATH: process.env.PATH };
  return resourcesByName(
    parseYamlDocuments(execFileSync('sh', ['-c', script], { cwd: repositoryRoot, encoding: 'utf8', env })).filter(
      Boolean,
    ),
  );
}

interface Container {
  readonly env: readonly {
    name: string;
    value?: string;
    valueFrom?: { configMapKeyRef: { name: string; key: string } };
  }[];
  readonly envFrom: readonly { configMapRef?: { name: string }; secretRef?: { name: string } }[];
}

/** A container's environment as the cluster would fill it in. */
function containerEnvironment(container: Container, all: Record<string, Resource>): Record<string, string> {
  const env: Record<string, string> = {};
  for (const { configMapRef, secretRef } of container.envFrom) {
    if (configMapRef !== undefined) Object.assign(env, all[`ConfigMap ${configMapRef.name}`]!.data);
    if (secretRef === undefined) continue;
    for (const [name, value] of Object.entries(all[`Secret ${secretRef.name}`]!.data as Record<string, string>)) {
      env[name] = Buffer.from(value, 'base64').toString();
    }
  }
  for (const { name, value, valueFrom } of container.env) {
    const reference = valueFrom?.configMapKeyRef;
    env[name] = value ?? all[`ConfigMap ${reference!.name}`]!.data[reference!.key];
  }
  return env;
}

test('Kubernetes: with the output of the printed steps, both planes accept their configuration', () => {
  const made = resourcesFromReadme();
  expect(Object.keys(made).sort()).toEqual([
    `Namespace ${NAMESPACE}`,
    'Secret controlplane-link-tls',
    'Secret controlplane-secrets',
    'Secret dataplane-link-tls',
    'Secret dataplane-secrets',
  ]);
  const all = { ...resourcesByName(kustomized), ...made };
  for (const [name, workload] of [
    ['controlplane', all['Deployment controlplane']!],
    ['dataplane', all['StatefulSet dataplane']!],
  ] as const) {
    const { containers, volumes } = workload.spec.template.spec;
    const env = containerEnvironment(containers[0], all);
    const { secretName } = volumes.find((volume: { name: string }) => volume.name === 'link-tls').secret;
    const files = Object.keys(all[`Secret ${secretName}`]!.data).map((file) => `/run/tls/${file}`);
    for (const variable of ['GRPC_TLS_CA', 'GRPC_TLS_CERT', 'GRPC_TLS_KEY']) {
      expect(files).toContain(env[variable]);
      env[variable] = env[variable]!.replace('/run/tls', `${home}/tls/${name}`);
    }
    if (name === 'dataplane') expect(Object.keys(env)).not.toContain('MASTER_KEYS');
    const config = name === 'controlplane' ? loadControlPlane(env) : loadDataPlane(env);
    expect(config.trustedProxyCidrs).toEqual([]);
  }
});

test('Kubernetes: a pod accepts calls until traffic stops, and has time to finish them', () => {
  const all = resourcesByName(kustomized);
  const env = {
    DATABASE_URL: 'postgres://u:p@h/d',
    MASTER_KEYS: `k:${Buffer.alloc(32).toString('base64')}`,
    JWT_SECRET: 'x'.repeat(32),
    INTERNAL_TOKEN: 'x'.repeat(32),
  };
  for (const [workload, config] of [
    [all['Deployment controlplane']!, loadControlPlane(env)],
    [all['StatefulSet dataplane']!, loadDataPlane(env)],
  ] as const) {
    const { terminationGracePeriodSeconds, containers } = workload.spec.template.spec;
    // SIGTERM closes the port immediately, but load balancers learn only then that the pod will exit.
    const [program, seconds] = containers[0].lifecycle?.preStop.exec.command ?? [];
    expect([program, Number(seconds)]).toEqual(['sleep', 5]);
    expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(Number(seconds) + config.drainTimeoutMs / 1_000 + 5);
  }
});

test('Kubernetes: a drain evicts one pod of each plane at a time, and pods spread over nodes and zones', () => {
  const all = resourcesByName(kustomized);
  for (const [plane, workload] of [
    ['controlplane', all['Deployment controlplane']!],
    ['dataplane', all['StatefulSet dataplane']!],
  ] as const) {
    const { spec } = all[`PodDisruptionBudget ${plane}`]!;
    expect([spec.maxUnavailable, spec.minAvailable]).toEqual([1, undefined]);
    const constraints = workload.spec.template.spec.topologySpreadConstraints as {
      topologyKey: string;
      labelSelector: { matchLabels: object };
    }[];
    expect(constraints.map(({ topologyKey }) => topologyKey)).toEqual([
      'kubernetes.io/hostname',
      'topology.kubernetes.io/zone',
    ]);
    for (const { labelSelector } of constraints) expect(labelSelector.matchLabels).toEqual({ app: plane });
  }
});

test('Kubernetes: the planes reach PgBouncer, Sentinel and a collector', () => {
  const all = resourcesByName(kustomized);
  const ports = (plane: string): number[] =>
    (all[`NetworkPolicy ${plane}`]!.spec.egress as { to?: unknown; ports: { port: number }[] }[]).flatMap((rule) =>
      rule.to === undefined ? rule.ports.map(({ port }) => port) : [],
    );
  expect(ports('controlplane')).toEqual(expect.arrayContaining([5432, 6432, 4318]));
  expect(ports('dataplane')).toEqual(expect.arrayContaining([6379, 26379]));
});

test('Helm: variables, placement, pull secrets and the names of existing secrets are values', () => {
  const values = {
    imagePullSecrets: [{ name: 'registry' }],
    secrets: {
      controlplane: 'own-c',
      controlplaneLinkTls: 'own-c-tls',
      dataplane: 'own-d',
      dataplaneLinkTls: 'own-d-tls',
    },
    dataplane: {
      extraEnv: { MAX_INFLIGHT: '20000' },
      nodeSelector: { pool: 'gateway' },
      tolerations: [{ key: 'gateway', operator: 'Exists' }],
    },
  };
  const chart = resourcesByName(renderChart(join(repositoryRoot, 'deploy/helm'), NAMESPACE, values));
  expect(chart['ConfigMap dataplane-env']!.data).toEqual({ MAX_INFLIGHT: '20000' });
  const { spec } = chart['StatefulSet dataplane']!.spec.template;
  expect([spec.nodeSelector, spec.tolerations, spec.imagePullSecrets]).toEqual([
    values.dataplane.nodeSelector,
    values.dataplane.tolerations,
    values.imagePullSecrets,
  ]);
  expect(spec.containers[0].envFrom).toEqual([
    { configMapRef: { name: 'dataplane-env' } },
    { secretRef: { name: 'own-d' } },
  ]);
  const secretOf = (plane: Resource): string =>
    plane.spec.template.spec.volumes.find(({ name }: { name: string }) => name === 'link-tls').secret.secretName;
  expect([secretOf(chart['StatefulSet dataplane']!), secretOf(chart['Deployment controlplane']!)]).toEqual([
    'own-d-tls',
    'own-c-tls',
  ]);
});

test('Kubernetes: the PrometheusRule has the rules of prometheus/alerts.yml, and both planes get a PodMonitor', async () => {
  const rules = parse(readFileSync(join(repositoryRoot, 'deploy/prometheus/alerts.yml'), 'utf8'));
  const rule = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'agent-credential-gateway' },
    spec: rules,
  };
  await expect(
    `# Written by test/src/deploy/kubernetes.test.ts from deploy/prometheus/alerts.yml.\n${stringify(rule, { lineWidth: 0 })}`,
  ).toMatchFileSnapshot(join(repositoryRoot, 'deploy/kubernetes/monitoring/prometheus-rule.yaml'));
  const built = resourcesByName(parseYamlDocuments(kubectl('kustomize', 'deploy/kubernetes/monitoring')));
  expect(Object.keys(built).sort()).toEqual([
    'PodMonitor controlplane',
    'PodMonitor dataplane',
    'PrometheusRule agent-credential-gateway',
  ]);
  const base = resourcesByName(kustomized);
  for (const [plane, workload] of [
    ['controlplane', base['Deployment controlplane']!],
    ['dataplane', base['StatefulSet dataplane']!],
  ] as const) {
    const { selector, podMetricsEndpoints } = built[`PodMonitor ${plane}`]!.spec;
    expect(workload.spec.template.metadata.labels).toMatchObject(selector.matchLabels);
    const [endpoint] = podMetricsEndpoints;
    const ports = workload.spec.template.spec.containers[0].ports as { name: string }[];
    expect(ports.map(({ name }) => name)).toContain(endpoint.port);
    // The rules name these jobs.
    expect(endpoint.relabelings).toEqual([{ targetLabel: 'job', replacement: plane }]);
  }
  const chart = resourcesByName(
    renderChart(join(repositoryRoot, 'deploy/helm'), NAMESPACE, { monitoring: { enabled: true } }),
  );
  for (const [name, resource] of Object.entries(built)) expect(chart[name]).toEqual(resource);
});

test('Helm: an Ingress for each plane leads to a port of its service and does not buffer', () => {
  const chart = resourcesByName(
    renderChart(join(repositoryRoot, 'deploy/helm'), NAMESPACE, { ingress: { enabled: true, className: 'own' } }),
  );
  for (const plane of ['dataplane', 'controlplane']) {
    const { metadata, spec } = chart[`Ingress ${plane}`]! as Resource & { metadata: { annotations: object } };
    expect(metadata.annotations).toMatchObject({
      'nginx.ingress.kubernetes.io/proxy-buffering': 'off',
      'nginx.ingress.kubernetes.io/proxy-request-buffering': 'off',
    });
    expect(spec.ingressClassName).toBe('own');
    const [{ host, http }] = spec.rules;
    expect(spec.tls[0].hosts).toEqual([host]);
    const { name, port } = http.paths[0].backend.service;
    const ports = chart[`Service ${name}`]!.spec.ports as { name: string }[];
    expect([name, ports.map((one) => one.name)]).toEqual([plane, expect.arrayContaining([port.name])]);
  }
});

test('Kubernetes: the job that sends a removed pod’s spool has its volume, its link and a way to the control planes', () => {
  const text = readFileSync(join(repositoryRoot, 'deploy/kubernetes/ship-spool-job.yaml'), 'utf8');
  const [job] = parseYamlDocuments(text.replaceAll('ORDINAL', '3'));
  const all = resourcesByName(kustomized);
  const plane = all['StatefulSet dataplane']!.spec;
  const pod = job!.spec.template;
  const claim = pod.spec.volumes.find(({ name }: { name: string }) => name === 'data').persistentVolumeClaim.claimName;
  expect(claim).toBe(`${plane.volumeClaimTemplates[0].metadata.name}-dataplane-3`);
  expect([job!.metadata.namespace, pod.spec.securityContext, pod.spec.containers[0].securityContext]).toEqual([
    NAMESPACE,
    plane.template.spec.securityContext,
    plane.template.spec.containers[0].securityContext,
  ]);
  expect(pod.spec.containers[0].image).toBe('registry.example.com/acg-dataplane:0.1.0');
  const linkEnv = (container: { env: { name: string }[] }) =>
    container.env.filter(({ name }) => /^(?:CONTROLPLANE_GRPC|GRPC_TLS_)/.test(name));
  expect(linkEnv(pod.spec.containers[0])).toEqual(linkEnv(plane.template.spec.containers[0]));
  // No service, disruption budget or stateful set may take it for a data plane.
  expect(pod.metadata.labels).toEqual({ app: 'ship-spool' });
  const { ingress } = all['NetworkPolicy controlplane']!.spec;
  expect(ingress).toContainEqual({
    from: [{ podSelector: { matchLabels: pod.metadata.labels } }],
    ports: [{ port: 9090, protocol: 'TCP' }],
  });
});
