/** The native addon sees every request and credential in clear: it is the file that was tested, byte for byte. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

test.each([
  ['uws_linux_x64_115.node', 'f4fa5d7b697529b45ac8aa3d57385d9af51bc1d2b26aa9f5b68ca4361542e665'],
  ['uws_linux_x64_137.node', '3b549c14e01d9d1faf234cdf4b6f0fb08158605e3692cd0eb1b905e327bd3449'],
])('native binary: %s is the one that was tested, and docs/native-binary.md says so', (file, hash) => {
  const bytes = readFileSync(join(root, 'node_modules/uWebSockets.js', file));
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(hash);
  expect(readFileSync(join(root, 'docs/native-binary.md'), 'utf8')).toContain(`| \`${file}\` | \`${hash}\` |`);
});

test('native binary: its package runs nothing when it is installed', () => {
  const manifest = JSON.parse(readFileSync(join(root, 'node_modules/uWebSockets.js/package.json'), 'utf8'));
  for (const script of ['preinstall', 'install', 'postinstall', 'prepare'])
    expect(manifest.scripts[script]).toBe(undefined);
});
