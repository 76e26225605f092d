import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PATCH_PACKAGE = createRequire(import.meta.url).resolve('patch-package/index.js');
const CONNECTION = 'node_modules/postgres/src/connection.js';
const MANIFEST = 'node_modules/postgres/package.json';

let copy: string;
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'acg-patch-'));
  for (const path of ['package.json', 'patches', 'node_modules/postgres']) {
    cpSync(join(root, path), join(copy, path), { recursive: true });
  }
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** Runs `npm run patch` on the copy, without git and patch(1), which images lack. Resolves to its exit code. */
async function patchCopy(): Promise<number> {
  const { scripts } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const [program, ...args] = scripts.patch!.split(' ');
  expect(program).toBe('patch-package');
  const child = spawn(process.execPath, [PATCH_PACKAGE, ...args], { cwd: copy, env: { PATH: '' } });
  return (await once(child, 'exit'))[0] as number;
}

test('build: the installed Postgres client is patched, and patching it again changes nothing', async () => {
  expect(await patchCopy()).toBe(0);
  expect(readFileSync(join(copy, CONNECTION), 'utf8')).toBe(readFileSync(join(root, CONNECTION), 'utf8'));
});

test('build: fails for a release of the Postgres client that the patch was not made for', async () => {
  const manifest = readFileSync(join(root, MANIFEST), 'utf8');
  writeFileSync(join(copy, MANIFEST), manifest.replace(/"version": "[^"]+"/, '"version": "99.0.0"'));
  expect(await patchCopy()).toBe(1);
  writeFileSync(join(copy, MANIFEST), manifest);
});

test('build: fails when the patch does not apply', async () => {
  const source = readFileSync(join(root, CONNECTION), 'utf8');
  writeFileSync(join(copy, CONNECTION), source.replaceAll('nextWriteTimer', 'writeTimer'));
  expect(await patchCopy()).toBe(1);
});
