import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DamagedDataDirectoryError, loadOrCreateSecrets } from './node-secrets.js';

const directory = () => mkdtempSync(join(tmpdir(), 'acg-secrets-'));

test('creates the secrets once with mode 0600 and reuses them at the next start', () => {
  const dir = directory();
  const first = loadOrCreateSecrets(dir, false);
  expect(statSync(join(dir, 'secrets.json')).mode & 0o777).toBe(0o600);
  expect(loadOrCreateSecrets(dir, true)).toEqual(first);
  expect(Buffer.from(first.masterKeys.split(':')[1]!, 'base64')).toHaveLength(32);
});

test.each(['', '{', '[]', '{"masterKeys":""}', 'null'])('rejects a damaged file (%j) and keeps it', (text) => {
  const dir = directory();
  writeFileSync(join(dir, 'secrets.json'), text);
  expect(() => loadOrCreateSecrets(dir, true)).toThrow(DamagedDataDirectoryError);
  expect(readFileSync(join(dir, 'secrets.json'), 'utf8')).toBe(text);
});

test('rejects missing secrets beside an existing database and writes nothing', () => {
  const dir = directory();
  expect(() => loadOrCreateSecrets(dir, true)).toThrow(/restore that file/);
  expect(() => statSync(join(dir, 'secrets.json'))).toThrow();
});
