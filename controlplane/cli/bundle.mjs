// One ESM file and lazy chunks out of what tsc has built: starting loads little, and the packed tarball depends on nothing.
// Swapped in whole: several builds may run at once, beside an acg that still loads a chunk.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const target = at('dist/bundle');
const fresh = `${target}.${process.pid}`;
const stale = `${fresh}.old`;
await build({
  input: at('dist/main.js'),
  platform: 'node',
  treeshake: true,
  logLevel: 'warn',
  output: {
    dir: fresh,
    format: 'esm',
    minify: true,
    entryFileNames: 'main.js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  },
});
if (existsSync(target)) renameSync(target, stale);
renameSync(fresh, target);
rmSync(stale, { recursive: true, force: true });
