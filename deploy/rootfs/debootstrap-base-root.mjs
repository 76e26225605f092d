// Replaces the base images: Debian by debootstrap, Node and npm from their npm packages, and the user `node` (1000), as
// in the official image `node:24-trixie-slim`.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const MIRROR = 'http://deb.debian.org/debian';
const ARCH = process.arch;

/** Returns the directory of the base image `node:MAJOR-SUITE-slim`, created once and kept under `cache`. */
export function baseRoot(cache, image) {
  const [, major, suite] = /^node:(\d+)-([a-z]+)-slim$/.exec(image) ?? [];
  if (major === undefined) throw new Error(`no recipe for the base image ${image}`);
  const done = join(cache, image.replace(':', '-'));
  if (existsSync(done)) return done;
  mkdirSync(cache, { recursive: true });
  const root = mkdtempSync(join(cache, 'base-'));
  chmodSync(root, 0o755);
  say(`debootstrap ${suite}`);
  run('debootstrap', ['--variant=minbase', '--include=ca-certificates', suite, root, MIRROR]);
  unpack(root, `node-linux-${ARCH}@${major}`, 'usr/local', ['bin', 'include', 'share']);
  unpack(root, 'npm@11', 'usr/local/lib/node_modules/npm');
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/local/bin', name));
  run('chroot', [root, 'useradd', '--uid', '1000', '--user-group', '--create-home', '--shell', '/bin/sh', 'node']);
  renameSync(root, done);
  return done;
}

/** Copies the files of an npm package (or its named folders) to `root/where`. */
function unpack(root, spec, where, folders) {
  const scratch = mkdtempSync(join(root, 'tmp/pack-'));
  const [packed] = JSON.parse(execFileSync('npm', ['pack', '--json', '--pack-destination', scratch, newest(spec)]));
  say(`${packed.id} (${packed.integrity})`);
  run('tar', ['-xzf', join(scratch, packed.filename), '-C', scratch, '--no-same-owner']);
  for (const folder of folders ?? ['.']) {
    const from = join(scratch, 'package', folder);
    if (existsSync(from)) cpSync(from, join(root, where, folder), { recursive: true });
  }
  rmSync(scratch, { recursive: true });
}

/** `name@major` → `name@` and the highest version of that major. */
function newest(spec) {
  const [name, major] = spec.split('@');
  const versions = [JSON.parse(execFileSync('npm', ['view', spec, 'version', '--json']))].flat();
  const byNumber = (a, b) => a.localeCompare(b, 'en', { numeric: true });
  const best = versions
    .filter((version) => version.startsWith(`${major}.`))
    .sort(byNumber)
    .at(-1);
  return `${name}@${best}`;
}

function run(program, args) {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

export const say = (text) => console.error(`--- ${text}`);
