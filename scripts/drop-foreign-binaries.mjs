// Takes out of node_modules the native binaries of other platforms, processors and Node versions, and what their packages
// carry besides (tests, examples): three quarters of an image otherwise. Run in the stage of an image that builds, on the
// Node version that the image runs.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const { platform, arch, versions } = process;

/** Whether a file or folder inside node_modules is of no use here. */
export function isForeign(path, here = { platform, arch, modules: versions.modules }) {
  const uws = /(?:^|\/)uWebSockets\.js\/(.+)$/.exec(path)?.[1];
  if (uws !== undefined) {
    const binary = /^uws_(.+)\.node$/.exec(uws)?.[1];
    if (binary !== undefined) return binary !== `${here.platform}_${here.arch}_${here.modules}`;
    return /^(?:\.github|docs|examples|misc|mvp|scripts|src|tests|logo\.svg|build\.c|Makefile)$/.test(uws);
  }
  const prebuilt = /\/prebuilds\/([^/]+)$/.exec(path)?.[1];
  return prebuilt !== undefined && prebuilt !== `${here.platform}-${here.arch}`;
}

export function dropForeignBinaries(modules) {
  for (const entry of readdirSync(modules, { withFileTypes: true })) {
    const path = join(modules, entry.name);
    if (isForeign(path)) rmSync(path, { recursive: true, force: true });
    else if (entry.isDirectory()) dropForeignBinaries(path);
  }
}

if (process.argv[1]?.endsWith('drop-foreign-binaries.mjs')) dropForeignBinaries('node_modules');
