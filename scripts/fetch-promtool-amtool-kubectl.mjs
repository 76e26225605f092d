// Provides programs that tests use to check files (promtool, amtool, kubectl). They are extracted from Debian packages,
// because installing the packages would start servers. Kept in the user's cache folder.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

const PACKAGES = { promtool: 'prometheus', amtool: 'prometheus-alertmanager', kubectl: 'kubernetes-client' };
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'agent-credential-gateway', 'tools');

/** Returns the path of the program, installed or extracted before; null when it is missing. */
export function findTool(name) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), join(cache, PACKAGES[name], 'usr/bin')];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/** Returns the names of the packages whose programs are missing. */
export const missingTools = () =>
  Object.entries(PACKAGES).flatMap(([name, from]) => (findTool(name) === null ? [from] : []));

/** Fetches the missing packages if apt is available; returns those that are still missing. */
export function bringTools() {
  const missing = missingTools();
  if (missing.length === 0 || spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status !== 0) return missing;
  mkdirSync(cache, { recursive: true });
  if (process.getuid() === 0) spawnSync('apt-get', ['update', '-qq'], { stdio: ['ignore', 2, 2] });
  for (const name of missing) {
    const building = mkdtempSync(join(cache, 'building-'));
    const { status } = spawnSync('apt-get', ['download', '-qq', name], {
      cwd: building,
      stdio: ['ignore', 2, 'ignore'],
    });
    const file = status === 0 ? readdirSync(building)[0] : undefined;
    if (file !== undefined) {
      const unpacked = join(building, 'files');
      execFileSync('dpkg-deb', ['-x', join(building, file), unpacked]);
      if (!existsSync(join(cache, name))) renameSync(unpacked, join(cache, name));
    }
    rmSync(building, { recursive: true });
  }
  return missingTools();
}
