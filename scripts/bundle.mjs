// Bundles what tsc has built of a program, packages included, into dist/bundle: main.js and a file for each lazy part. Node
// starts one file several times faster than thousands. Skips the bundle while its inputs are unchanged. Swaps the folder
// in whole, because several builds may run beside a process that still loads a lazy part.
//
//   node scripts/bundle.mjs [FOLDER …]    of controlplane, dataplane, controlplane/cli; all by default
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { hashFiles } from './hash-files.mjs';

/** Native packages, and one that loads services which no plane has. They stay in `node_modules`. */
const plane = { external: [/^@grpc\/proto-loader$/, /^@node-rs\//, /^fs-native-extensions$/, /^uWebSockets\.js$/] };
const BUNDLES = {
  controlplane: plane,
  dataplane: plane,
  // Its package depends on nothing. Short names: it prints no stack traces.
  'controlplane/cli': { minify: true },
};

const bundleOf = (folder) => join(folder, 'dist/bundle');
/** Not in the bundle: the command line's package holds that folder. */
const stampOf = (folder) => join(folder, 'dist/bundle.json');

function isFresh(folder) {
  if (!existsSync(stampOf(folder))) return false;
  const { inputs, hash } = JSON.parse(readFileSync(stampOf(folder), 'utf8'));
  return inputs.every((path) => existsSync(path)) && hashFiles(inputs) === hash;
}

/** The programs whose modules or packages have changed since they were bundled. */
export const listStaleBundles = () => Object.keys(BUNDLES).filter((folder) => !isFresh(folder));

/** A module finds its files (migrations, Lua scripts, the dashboard) from its own place, which is not the bundle's. */
const keepPlaces = (target) => ({
  name: 'keep-places',
  transform: {
    filter: { id: { exclude: /node_modules/ }, code: /import\.meta\.url/ },
    handler: (code, id) =>
      code.replaceAll('import.meta.url', `new URL(${JSON.stringify(relative(target, id))}, import.meta.url).href`),
  },
});

/** V8 keeps a text with other characters as UTF-16: the control plane would need 7 MB more and start 15% slower. */
const escapeBeyondAscii = {
  name: 'escape-beyond-ascii',
  renderChunk: (code) =>
    code.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
};

async function bundle(folder) {
  const { rolldown } = await import('rolldown');
  const target = bundleOf(folder);
  const fresh = `${target}.${process.pid}`;
  const stale = `${fresh}.old`;
  const { external = [], minify = false } = BUNDLES[folder];
  const build = await rolldown({
    input: resolve(folder, 'dist/main.js'),
    platform: 'node',
    treeshake: true,
    logLevel: 'warn',
    external,
    plugins: [keepPlaces(resolve(target)), escapeBeyondAscii],
  });
  await build.write({
    dir: fresh,
    format: 'esm',
    minify,
    // Without the comments that describe code; licences stay.
    comments: { legal: true, annotation: false, jsdoc: false },
    entryFileNames: 'main.js',
    chunkFileNames: '[name]-[hash].js',
  });
  const modules = (await build.watchFiles).map((path) => relative('.', path)).sort();
  await build.close();
  const inputs = [...modules, relative('.', fileURLToPath(import.meta.url)), 'package-lock.json'];
  rmSync(stampOf(folder), { force: true });
  if (existsSync(target)) renameSync(target, stale);
  renameSync(fresh, target);
  rmSync(stale, { recursive: true, force: true });
  writeFileSync(stampOf(folder), JSON.stringify({ hash: hashFiles(inputs), inputs }));
}

if (import.meta.url === pathToFileURL(resolve(process.argv[1])).href) {
  const wanted = process.argv.slice(2);
  for (const folder of wanted.length > 0 ? wanted : Object.keys(BUNDLES)) {
    if (!isFresh(folder)) await bundle(folder);
  }
}
