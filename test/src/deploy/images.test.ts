/** Contents of the images, according to their Dockerfiles and scripts. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const importScript = async <T>(path: string): Promise<T> => (await import(pathToFileURL(join(root, path)).href)) as T;

interface Step {
  readonly op: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly words: readonly string[];
  readonly text: string;
}
interface Stage {
  readonly base: string;
  readonly name: string;
  readonly steps: readonly Step[];
}
const { parseDockerfile, imageConfig } = await importScript<{
  parseDockerfile(text: string): Stage[];
  imageConfig(stage: Stage): { user: string; entrypoint: string[]; command: string[]; env: Record<string, string> };
}>('deploy/rootfs/dockerfile.mjs');
const { copy, ignored } = await importScript<{
  copy(step: { from: string; sources: string[]; target: string; isIgnored: (path: string) => boolean }): void;
  ignored(patterns: readonly string[]): (path: string) => boolean;
}>('deploy/rootfs/copy-from-build-context.mjs');

const dockerfiles = readdirSync(join(root, 'deploy')).filter((name) => name.startsWith('Dockerfile.'));

test.each(dockerfiles)('images: %s copies what exists, prunes, and keeps binaries of one platform', (name) => {
  const stages = parseDockerfile(readFileSync(join(root, 'deploy', name), 'utf8'));
  const [build, image] = stages as [Stage, Stage];
  const isIgnored = ignored(readFileSync(join(root, '.dockerignore'), 'utf8').trim().split('\n'));
  for (const { words } of build.steps.filter((step) => step.op === 'COPY')) {
    for (const source of words.slice(0, -1)) {
      expect([source, existsSync(join(root, source)), isIgnored(source)]).toEqual([source, true, false]);
    }
  }
  const run = build.steps.find((step) => step.op === 'RUN')!.text;
  // Installed without scripts: the Dockerfile repeats the steps of `npm run build`.
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const script of scripts['build:unlocked']!.matchAll(/npm run -s (\S+)/g)) {
    // Patches Postgres' client and builds the files that the control plane serves.
    if (/^(?:patch|dashboard)$/.test(script[1]!) && !/-w controlplane/.test(run)) continue;
    expect(run).toContain(`&& npm run ${script[1]} `);
  }
  // Without the root workspace npm keeps the development tools of the root: compiler, test runner, linter.
  expect(run).toMatch(/npm prune --ignore-scripts --omit=dev --include-workspace-root -w /);
  expect(run).toMatch(/&& node scripts\/drop-foreign-binaries\.mjs$/);
  expect(image.base).toBe(build.base); // the binaries that stay are those of the Node that builds
  expect(imageConfig(image)).toMatchObject({ user: 'node', env: { NODE_ENV: 'production' } });
});

/** Copies what the last stage takes from the build, from this built tree; its packages are links. */
function assembleImage(image: Stage, home: string): readonly string[] {
  mkdirSync(join(home, 'node_modules/@acg'), { recursive: true });
  for (const { op, words } of image.steps) {
    const sources = words.slice(0, -1).map((path) => path.replace(/^\/app\//, ''));
    if (op !== 'COPY' || sources.includes('node_modules')) continue;
    copy({ from: root, sources, target: join(home, words.at(-1)!), isIgnored: () => false });
  }
  const files = (readdirSync(home, { recursive: true }) as string[]).sort();
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '@acg') symlinkSync(join(root, 'node_modules', name), join(home, 'node_modules', name));
  }
  for (const name of ['base', 'proto', 'dataplane', 'controlplane']) {
    symlinkSync(join(home, name), join(home, 'node_modules/@acg', name));
  }
  return files;
}

/** Exit code of an invalid configuration: the program and all its modules were loaded. */
const EX_CONFIG = 78;

test.each(dockerfiles)('images: %s holds what its program needs, and no source, test or fixture', (name) => {
  const image = parseDockerfile(readFileSync(join(root, 'deploy', name), 'utf8')).at(-1)!;
  const home = mkdtempSync(join(tmpdir(), 'acg-image-'));
  try {
    const files = assembleImage(image, home);
    expect(files.length).toBeGreaterThan(100);
    expect(
      files.filter((path) => /(^|\/)src(\/|$)|\.test\.|testing|fixture|\.ts$/.test(path.replace(/\.d\.ts$/, ''))),
    ).toEqual([]);
    const hasControlPlane = name !== 'Dockerfile.dataplane';
    for (const served of ['controlplane/openapi.json', 'controlplane/dashboard/dist/site/index.html']) {
      expect([served, files.includes(served)]).toEqual([served, hasControlPlane]);
    }
    const [, ...args] = imageConfig(image).command;
    const env = { PATH: process.env.PATH, LOG_LEVEL: 'nonsense', GATEWAY_DATA_DIR: join(home, 'data') };
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: home, env, encoding: 'utf8' });
    expect(stderr).toContain('LOG_LEVEL must be one of');
    expect(status).toBe(EX_CONFIG);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

test('images: a binary of another platform, processor or Node version is deleted, the one in use stays', () => {
  const home = mkdtempSync(join(tmpdir(), 'acg-prune-'));
  const { platform, arch, versions } = process;
  const stay = [
    `node_modules/uWebSockets.js/uws_${platform}_${arch}_${versions.modules}.node`,
    'node_modules/uWebSockets.js/uws.js',
    'node_modules/uWebSockets.js/LICENSE',
    `node_modules/fs-native-extensions/prebuilds/${platform}-${arch}/fs.node`,
    'node_modules/other/src/index.js',
  ];
  const go = [
    `node_modules/uWebSockets.js/uws_${platform}_${arch}_83.node`,
    `node_modules/uWebSockets.js/uws_win32_x64_${versions.modules}.node`,
    'node_modules/uWebSockets.js/examples/x.js',
    'node_modules/fs-native-extensions/prebuilds/android-x64/fs.node',
    'node_modules/a/node_modules/b/prebuilds/ios-arm64/c.bare',
  ];
  try {
    for (const path of [...stay, ...go]) {
      mkdirSync(join(home, dirname(path)), { recursive: true });
      writeFileSync(join(home, path), '');
    }
    execFileSync(process.execPath, [join(root, 'scripts/drop-foreign-binaries.mjs')], { cwd: home });
    expect([...stay, ...go].filter((path) => existsSync(join(home, path)))).toEqual(stay);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

test('images: .dockerignore is read as Docker reads it', () => {
  const isIgnored = ignored(['deploy', '**/.env', '**/*.key', 'bench/results']);
  const paths = [
    'deploy/tls/ca/ca.key',
    'a/.env',
    '.env',
    'a/b.key',
    'b.keys',
    'bench/results/x',
    'bench/src',
    'x/deploy',
  ];
  expect(paths.filter(isIgnored)).toEqual(['deploy/tls/ca/ca.key', 'a/.env', '.env', 'a/b.key', 'bench/results/x']);
});

test('images: a Dockerfile with an unknown instruction is rejected', () => {
  expect(() => parseDockerfile('FROM x\nADD a b')).toThrow('not known');
  expect(() => parseDockerfile('RUN x')).toThrow('before the first FROM');
});
