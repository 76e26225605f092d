/**
 * Runs once before all tests: bundles again what tsc has compiled since the last bundle, so that no test starts an old
 * program. Does nothing in a tree that was never built, where only tests without processes run.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const SCRIPT = 'scripts/bundle.mjs';

export default async function setup(): Promise<void> {
  const { listStaleBundles } = (await import(pathToFileURL(SCRIPT).href)) as { listStaleBundles(): string[] };
  const stale = listStaleBundles().filter((folder) => existsSync(`${folder}/dist/main.js`));
  if (stale.length === 0) return;
  const { status } = spawnSync(process.execPath, ['scripts/build-lock.mjs', process.execPath, SCRIPT, ...stale], {
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`${stale.join(', ')}: not bundled. Run npm run build`);
}
