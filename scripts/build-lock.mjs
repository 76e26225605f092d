// Runs a command that builds, while no other such command runs in this working tree: both would write the same files.
// The kernel releases the lock when this process ends.
//
//   node scripts/build-lock.mjs COMMAND [ARGUMENT …]
import './require-node-version.mjs';
import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { tryLock, waitForLockSync } from 'fs-native-extensions';

const fd = openSync('tsconfig.build.json', 'r+');
if (!tryLock(fd)) {
  console.error('waiting for another build of this working tree');
  waitForLockSync(fd);
}
const [command, ...args] = process.argv.slice(2);
const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
if (error) throw error;
process.exit(status ?? 1);
