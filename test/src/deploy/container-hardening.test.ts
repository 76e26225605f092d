/** What the shipped files grant: no more than each part needs. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface ComposeService {
  readonly build?: { readonly dockerfile: string };
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly privileged?: boolean;
  readonly security_opt?: readonly string[];
  readonly ulimits?: { readonly core?: number };
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks: readonly string[] | Readonly<Record<string, { readonly ipv4_address: string }>>;
  readonly environment?: Readonly<Record<string, string>>;
}
interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
}
const compose = parse(read('deploy/compose.yaml'), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const PLANES = ['controlplane', 'dataplane-1', 'dataplane-2'];

test('compose: no container has root, capabilities, a writable root or core dumps', () => {
  expect(services.length).toBeGreaterThan(7);
  for (const [name, service] of services) {
    expect(service, name).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      ulimits: { core: 0 },
    });
    expect([service.cap_add, service.privileged], name).toEqual([undefined, undefined]);
    const user = service.build === undefined ? service.user : /^USER (.*)$/m.exec(read(service.build.dockerfile))?.[1];
    expect(['root', '0', undefined], name).not.toContain(user);
  }
});

test('compose: each service sees its own certificate, and none the key of the CA', () => {
  const mounted = services.flatMap(([name, service]) =>
    (service.volumes ?? []).filter((volume) => volume.startsWith('./tls')).map((volume) => [name, volume]),
  );
  expect(mounted).toEqual([
    ['controlplane', './tls/controlplane:/run/tls:ro'],
    ['dataplane-1', './tls/dataplane:/run/tls:ro'],
    ['dataplane-2', './tls/dataplane:/run/tls:ro'],
    ['nginx', './tls/front:/etc/nginx/tls:ro'],
  ]);
});

test('compose: the planes trust only nginx for the client IP', () => {
  const { networks } = compose.services.nginx!;
  const address = (networks as Readonly<Record<string, { ipv4_address: string }>>).edge!.ipv4_address;
  for (const name of PLANES) expect(compose.services[name]!.environment!.TRUSTED_PROXY_CIDRS).toBe(`${address}/32`);
});

test('compose: nginx alone is reached from outside, and the stores have no way out', () => {
  const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => `${name} ${port}`));
  expect(published).toEqual(['nginx 8443:8443', 'nginx 8444:8444', 'grafana 127.0.0.1:3000:3000']);
  for (const store of ['postgres', 'redis']) expect(compose.services[store]!.networks).toEqual(['data']);
  expect(compose.networks.data).toEqual({ internal: true });
});

interface Workload {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly policyTypes?: readonly string[];
    readonly ingress?: readonly {
      readonly from?: readonly object[];
      readonly ports: readonly { readonly port: number }[];
    }[];
    readonly ports?: readonly { readonly name: string; readonly targetPort: string }[];
    readonly template: {
      readonly spec: Readonly<Record<string, unknown>> & { readonly containers: readonly object[] };
    };
  };
}
const kubernetes = readdirSync(join(root, 'deploy/kubernetes'))
  .filter((name) => name.endsWith('.yaml'))
  .flatMap((name) => parseAllDocuments(read(`deploy/kubernetes/${name}`)).map((one) => one.toJS() as Workload));
const named = (kind: string, name: string): Workload =>
  kubernetes.find((one) => one.kind === kind && one.metadata.name === name)!;

test.each([
  ['Deployment', 'controlplane'],
  ['StatefulSet', 'dataplane'],
])('Kubernetes: the %s %s runs with the least it needs', (kind, name) => {
  const { spec } = named(kind, name).spec.template;
  expect(spec).toMatchObject({
    automountServiceAccountToken: false,
    // A service `controlplane` would set CONTROLPLANE_PORT=tcp://… in every pod: no plane starts with that.
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  });
  for (const container of spec.containers) {
    expect(container).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
    });
  }
});

test.each(['controlplane', 'dataplane'])(
  'Kubernetes: what enters and leaves the %s is listed, peer by peer',
  (name) => {
    const { spec } = named('NetworkPolicy', name);
    expect(spec.policyTypes).toEqual(['Ingress', 'Egress']);
    for (const rule of spec.ingress!) {
      expect(rule.from, JSON.stringify(rule)).toHaveLength(1);
      expect(rule.ports).toHaveLength(1);
    }
  },
);

test("Kubernetes: the control plane's metrics are not on the port that an ingress serves", () => {
  const [container] = named('Deployment', 'controlplane').spec.template.spec.containers as [
    { env: { name: string; value: string }[]; ports: { name: string; containerPort: number }[] },
  ];
  const port = container.env.find((one) => one.name === 'CONTROLPLANE_METRICS_PORT')!.value;
  expect(container.ports).toContainEqual({ name: 'metrics', containerPort: Number(port) });
  expect(named('Service', 'controlplane').spec.ports).toEqual([{ name: 'http', port: 80, targetPort: 'http' }]);
});

test.each(['controlplane', 'dataplane', 'gateway'])(
  'image of the %s: an ordinary user, no core dumps, a command that gets signals',
  (name) => {
    const dockerfile = read(`deploy/Dockerfile.${name}`);
    expect(dockerfile).toMatch(/^USER node$/m);
    const entry = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)![1]!) as string[];
    const command = JSON.parse(/^CMD (.*)$/m.exec(dockerfile)![1]!) as string[];
    const script = name === 'gateway' ? 'singlenode/dist/main.js' : `${name}/dist/bundle/main.js`;
    expect(command).toEqual(['node', '--max-semi-space-size=16', script]);
    const [program, ...args] = entry;
    const shown = execFileSync(program!, [...args, 'sh', '-c', 'ulimit -c; echo $PPID'])
      .toString()
      .split('\n');
    expect(shown.slice(0, 2)).toEqual(['0', String(process.pid)]); // no process in between
  },
);

test('secrets of an installation stay out of git and out of the images', () => {
  const secret = ['deploy/.env', 'deploy/tls/ca/ca.key', 'deploy/tls/front/tls.key', '.gateway/secrets.json'];
  const ignoredByGit = execFileSync('git', ['check-ignore', '--no-index', ...secret], { cwd: root }).toString();
  expect(ignoredByGit.trim().split('\n')).toEqual(secret);
  const patterns = read('.dockerignore').trim().split('\n');
  expect(patterns).toEqual(expect.arrayContaining(['deploy', '.gateway', '**/.env', '**/*.key', '.git']));
});

test('certificates: only the user of its image can read a key', () => {
  const home = mkdtempSync(join(tmpdir(), 'acg-tls-'));
  try {
    const tls = join(home, 'tls');
    execFileSync('sh', [join(root, 'deploy/make-certificates.sh'), tls, 'gateway.example.com', 'cp2.internal']);
    expect(readdirSync(tls).sort()).toEqual(['ca', 'controlplane', 'dataplane', 'front']);
    for (const plane of ['controlplane', 'dataplane']) {
      expect(readdirSync(join(tls, plane)).sort()).toEqual(['ca.crt', 'tls.crt', 'tls.key']);
    }
    expect(statSync(tls).mode & 0o777).toBe(0o700);
    expect(statSync(join(tls, 'ca')).mode & 0o777).toBe(0o700);
    const text = execFileSync('openssl', [
      'x509',
      '-in',
      join(tls, 'controlplane/tls.crt'),
      '-noout',
      '-text',
    ]).toString();
    expect(text).toContain('DNS:cp2.internal');
    const owner = process.getuid?.() === 0 ? { planes: 1000, front: 101, mode: 0o400 } : null;
    for (const [file, uid] of [
      ['controlplane/tls.key', owner?.planes],
      ['dataplane/tls.key', owner?.planes],
      ['front/tls.key', owner?.front],
    ] as const) {
      const { uid: is, mode } = statSync(join(tls, file));
      expect([file, is, mode & 0o777]).toEqual([file, uid ?? process.getuid?.(), owner?.mode ?? 0o644]);
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
