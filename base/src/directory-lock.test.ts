import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DirectoryInUse, lockDirectory } from './directory-lock.js';

test('directory lock: throws in a second process until the first one is killed', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'acg-lock-'));
  const script = `import('${join(import.meta.dirname, '../dist/directory-lock.js')}').then((m) => {
    m.lockDirectory(${JSON.stringify(directory)}, 'test'); console.log('locked'); setInterval(() => {}, 1000); })`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  expect(() => lockDirectory(directory, 'test')).toThrow(DirectoryInUse);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const lock = lockDirectory(directory, 'test');
  lock.release();
});
