// Deletes native binaries for other platforms, processors and Node versions from node_modules, and tests and examples of
// their packages: together three quarters of an image. Runs in the build stage of an image, on the Node version of the
// image.
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
