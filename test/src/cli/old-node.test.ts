/** Under a Node that is too old, one line says which is needed; a tool's syntax error would not. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const OLD_NODE = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'18.20.0'}})`;

test.each([
  ['acg', '../../../controlplane/cli/bin/acg.js', 1],
  ['the build, with which npm start begins', '../../../scripts/build-lock.mjs', 78],
])('%s names the required version', (_name, script, code) => {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', OLD_NODE, path, 'true'], {
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([code, '']);
  expect(stderr).toMatch(/^(?:acg|gateway): needs Node 20\.19 or later, and this is Node 18\.20\.0\n$/);
});
