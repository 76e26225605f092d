import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DamagedDataDirectoryError, loadOrCreateSecrets } from './node-secrets.js';

const directory = () => mkdtempSync(join(tmpdir(), 'acg-secrets-'));

test('secrets: made once with mode 0600, the same at the next start', () => {
  const dir = directory();
  const first = loadOrCreateSecrets(dir, false);
  expect(statSync(join(dir, 'secrets.json')).mode & 0o777).toBe(0o600);
  expect(loadOrCreateSecrets(dir, true)).toEqual(first);
  expect(Buffer.from(first.masterKeys.split(':')[1]!, 'base64')).toHaveLength(32);
});

test.each(['', '{', '[]', '{"masterKeys":""}', 'null'])('secrets: a damaged file (%j) is refused and kept', (text) => {
  const dir = directory();
  writeFileSync(join(dir, 'secrets.json'), text);
  expect(() => loadOrCreateSecrets(dir, true)).toThrow(DamagedDataDirectoryError);
  expect(readFileSync(join(dir, 'secrets.json'), 'utf8')).toBe(text);
});

test('secrets: missing beside a database is refused, nothing is written', () => {
  const dir = directory();
  expect(() => loadOrCreateSecrets(dir, true)).toThrow(/restore that file/);
  expect(() => statSync(join(dir, 'secrets.json'))).toThrow();
});
