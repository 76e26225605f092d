/** The workflow that publishes images: its permissions, its trusted actions, and that it publishes every image. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { repositoryRoot } from './operator-tools.js';

interface Workflow {
  readonly on: { readonly push: { readonly tags: readonly string[] } };
  readonly permissions: object;
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly permissions: object;
        readonly strategy: { readonly matrix: { readonly image: readonly string[] } };
        readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
      }
    >
  >;
}
const text = readFileSync(join(repositoryRoot, '.github/workflows/images.yml'), 'utf8');
const workflow = parse(text) as Workflow;
const job = workflow.jobs.image!;

test('workflow: every Dockerfile becomes an image, on version tags only', () => {
  const dockerfiles = readdirSync(join(repositoryRoot, 'deploy')).flatMap(
    (name) => /^Dockerfile\.(.+)$/.exec(name)?.[1] ?? [],
  );
  expect([...job.strategy.matrix.image].sort()).toEqual(dockerfiles.sort());
  expect(Object.keys(workflow.on)).toEqual(['push']);
  expect(Object.keys(workflow.on.push)).toEqual(['tags']);
});

test('workflow: it may only push and sign, and pins third-party actions by hash', () => {
  expect(workflow.permissions).toEqual({});
  expect(job.permissions).toEqual({ contents: 'read', packages: 'write', 'id-token': 'write' });
  const actions = job.steps.flatMap(({ uses }) => uses ?? []);
  expect(actions.length).toBeGreaterThan(0);
  for (const action of actions) expect(action).toMatch(/@[0-9a-f]{40}$/);
});

test('workflow: an image is described when it is pushed, and signed and verified by digest', () => {
  const commands = job.steps.flatMap(({ run }) => run ?? []);
  const [, build, sign, verify] = commands;
  for (const flag of ['--sbom=true', '--provenance=mode=max', '--push']) expect(build).toContain(flag);
  expect(sign).toMatch(/^cosign sign --yes "\$NAME@\$\(jq .*digest/);
  expect(verify).toContain('cosign verify --certificate-identity "$IDENTITY"');
});

test('workflow: commands are well-formed, and untrusted values reach them as variables, never as text', () => {
  for (const { run } of job.steps) {
    if (run === undefined) continue;
    expect(run).not.toContain('${{');
    expect(spawnSync('bash', ['-n', '-c', run]).status).toBe(0);
  }
});
