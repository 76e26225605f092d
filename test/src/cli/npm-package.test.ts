/** The package that `npm pack` builds, installed elsewhere: it has no dependencies and starts fast. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const workspace = fileURLToPath(new URL('../../../controlplane/cli', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'acg-tarball-'));
const npm = (args: readonly string[], cwd: string): string =>
  execFileSync('npm', [...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] }).toString();
const installed = join(home, 'node_modules', '@acg', 'cli');

beforeAll(() => {
  npm(['pack', '--ignore-scripts', '--pack-destination', home], workspace);
  const tarball = readdirSync(home).find((name) => name.endsWith('.tgz'))!;
  npm(['init', '--yes'], home);
  npm(['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', `./${tarball}`], home);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

test('it contains the program and its bundle only, and has no dependencies', () => {
  expect(readdirSync(installed).sort()).toEqual(['bin', 'dist', 'package.json']);
  expect(readdirSync(join(installed, 'dist'))).toEqual(['bundle']);
  expect(readdirSync(join(home, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['@acg']);
  expect(JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')).dependencies).toBeUndefined();
});

test('it runs', () => {
  const acg = join(home, 'node_modules', '.bin', 'acg');
  const env = { PATH: process.env.PATH, HOME: home };
  expect(existsSync(acg)).toBe(true);
  expect(execFileSync(acg, ['--version'], { env }).toString()).toBe(
    `${JSON.parse(readFileSync(join(workspace, 'package.json'), 'utf8')).version}\n`,
  );
  for (const args of [
    ['--help'],
    ['run', '--help'],
    ['completion', 'zsh'],
    ['agents', 'ls', '--help'],
    ['apply', '--help'],
  ]) {
    expect(execFileSync(acg, args, { env }).toString().length).toBeGreaterThan(100);
  }
});
