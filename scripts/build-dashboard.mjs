// Builds the dashboard into controlplane/dashboard/dist/site, with a compressed copy beside each text file. Skips the build
// while its inputs are unchanged. Replaces the folder atomically, because several builds may run concurrently with
// processes that serve the files.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { hashFiles } from './hash-files.mjs';

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
const madeOf = hashFiles(sources);

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
