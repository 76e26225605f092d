// Builds the root file system of an image from its Dockerfile, without a container engine. Needs Linux, root,
// debootstrap, a Debian mirror and the npm registry.
//   node deploy/rootfs/build-image.mjs dataplane|controlplane|gateway [--node 20|22|24] [--out DIRECTORY]
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runInside } from './chroot.mjs';
import { copy, ignored, readIgnore } from './copy-from-build-context.mjs';
import { baseRoot, say } from './debootstrap-base-root.mjs';
import { environment, imageConfig, parseDockerfile } from './dockerfile.mjs';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** Builds the image and returns `{root, config}`. `node` overrides the major version that the Dockerfile names. */
export function buildImage({ image, node, out, cache }) {
  const stages = parseDockerfile(readFileSync(join(repository, `deploy/Dockerfile.${image}`), 'utf8'));
  const roots = new Map();
  for (const stage of stages) {
    const base = baseRoot(cache, node === undefined ? stage.base : stage.base.replace(/^node:\d+/, `node:${node}`));
    const root = join(out, stage.name);
    rmSync(root, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    if (spawnSync('cp', ['-a', '--reflink=auto', base, root], { stdio: 'inherit' }).status !== 0) throw new Error('cp');
    roots.set(stage.name, root);
    runSteps(stage, roots, cache);
  }
  const last = stages.at(-1);
  const config = imageConfig(last);
  writeFileSync(join(out, 'image.json'), `${JSON.stringify(config, null, 2)}\n`);
  return { root: roots.get(last.name), config };
}

function runSteps(stage, roots, cache) {
  const root = roots.get(stage.name);
  const isIgnored = ignored(readIgnore(repository));
  const env = {};
  let cwd = '/';
  const at = (path) => join(root, resolve(cwd, path)) + (path.endsWith('/') ? '/' : '');
  for (const { op, flags, words, text } of stage.steps) {
    if (op === 'WORKDIR') {
      cwd = resolve(cwd, words[0]);
      mkdirSync(join(root, cwd), { recursive: true });
    }
    if (op === 'ENV') Object.assign(env, environment(words));
    if (op === 'COPY') {
      const sources = words.slice(0, -1);
      const other = flags.from === undefined ? null : roots.get(flags.from);
      copy({
        from: other ?? repository,
        sources,
        target: at(words.at(-1)),
        isIgnored: other === null ? isIgnored : () => false,
        chown: flags.chown,
      });
    }
    if (op === 'RUN') {
      say(`${stage.name}: ${text}`);
      runInside({
        root,
        cwd,
        env: { ...env, ...network() },
        command: ['/bin/sh', '-c', text],
        binds: binds(root, cache),
      });
    }
  }
}

/** Files of this machine that a build needs and the image must not contain: names, certificates, npm's cache. */
function binds(root, cache) {
  const npm = join(cache, 'npm');
  mkdirSync(npm, { recursive: true });
  mkdirSync(join(root, 'root/.npm'), { recursive: true });
  for (const name of ['etc/resolv.conf', 'etc/hosts']) writeFileSync(join(root, name), '');
  return [
    { from: '/etc/resolv.conf', to: '/etc/resolv.conf', readOnly: true },
    { from: '/etc/hosts', to: '/etc/hosts', readOnly: true },
    ...(existsSync(CERTIFICATES) ? [{ from: CERTIFICATES, to: CERTIFICATES, readOnly: true }] : []),
    { from: npm, to: '/root/.npm', readOnly: false },
  ];
}

const network = () => (existsSync(CERTIFICATES) ? { NODE_EXTRA_CA_CERTS: CERTIFICATES } : {});

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { node: { type: 'string' }, out: { type: 'string' }, cache: { type: 'string' } },
  });
  const image = positionals[0];
  const cache = resolve(values.cache ?? join(tmpdir(), 'acg-rootfs'));
  const out = resolve(values.out ?? join(cache, `${image}-${values.node ?? 'as-written'}`));
  const { root } = buildImage({ image, node: values.node, out, cache });
  console.log(root);
}
