// Builds the dashboard into controlplane/dashboard/dist/site, with a compressed copy beside each text file. Skips the build
// while its inputs are unchanged. Replaces the folder atomically, because several builds may run concurrently with
// processes that serve the files.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';

const home = 'controlplane/dashboard';
const site = join(home, 'dist/site');
const stamp = join(site, '.vite/made-of');
const files = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

const sources = [
  'package-lock.json',
  ...['index.html', 'package.json', 'vite.config.mjs'].map((name) => join(home, name)),
  ...files(join(home, 'src')),
  ...files('controlplane/client/src'),
  ...['limit-definitions', 'time-and-money-units'].map((name) => `base/src/${name}.ts`),
];
const hash = createHash('sha256');
for (const path of sources) hash.update(path).update('\0').update(readFileSync(path)).update('\0');
const madeOf = hash.digest('hex');

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== madeOf) {
  const fresh = `${site}.${process.pid}`;
  const outDir = join(process.cwd(), fresh);
  await build({ root: home, logLevel: 'warn', build: { outDir, emptyOutDir: true } });
  for (const path of files(join(fresh, 'assets')).filter((name) => /\.(js|css|svg)$/.test(name))) {
    const text = readFileSync(path);
    writeFileSync(
      `${path}.br`,
      brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: text.length } }),
    );
    writeFileSync(`${path}.gz`, gzipSync(text, { level: 9 }));
  }
  mkdirSync(join(fresh, '.vite'), { recursive: true });
  writeFileSync(join(fresh, '.vite/made-of'), madeOf);
  rmSync(site, { recursive: true, force: true });
  renameSync(fresh, site);
}
