import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { SecretFileWatcher } from './secret-file-watcher.js';

const home = mkdtempSync(join(tmpdir(), 'acg-secrets-'));
afterEach(() => rmSync(home, { recursive: true, force: true }));

test('secret files: a replaced file, and a replaced directory of mounted secrets, are noticed once; a gap is not', () => {
  for (const version of ['v1', 'v2']) {
    mkdirSync(join(home, version), { recursive: true });
    writeFileSync(join(home, version, 'token'), `${version} of the token`);
  }
  symlinkSync('v1', join(home, 'current'));
  let changes = 0;
  const watcher = new SecretFileWatcher([join(home, 'current', 'token')], () => changes++);
  watcher.look();
  expect(changes).toBe(0);
  symlinkSync('v2', join(home, 'next'));
  renameSync(join(home, 'next'), join(home, 'current'));
  for (let i = 0; i < 2; i++) watcher.look();
  expect(changes).toBe(1);
  rmSync(join(home, 'v2', 'token'));
  watcher.look();
  expect(changes).toBe(1);
  writeFileSync(join(home, 'v2', 'token'), 'another');
  watcher.look();
  expect(changes).toBe(2);
});
