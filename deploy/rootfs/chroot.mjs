// Runs a program inside a root file system, in separate mount, process and IPC namespaces. Mounts disappear with the
// last process.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Arguments of `unshare` that run `command` in `root`.
 * - `binds`: `{from, to, readOnly}`; `to` must exist in `root`.
 * - `readOnlyRoot`: as `docker run --read-only --tmpfs /tmp`.
 * - `uid`: also drops every capability and what set-user-id programs could give back.
 */
export function inside({ root, command, cwd = '/', env = {}, uid = 0, binds = [], readOnlyRoot = false }) {
  const q = (text) => `'${String(text).replaceAll("'", `'\\''`)}'`;
  const setup = ['set -e', `mount --bind ${q(root)} ${q(root)}`];
  setup.push(`mount -t proc proc ${q(`${root}/proc`)}`, `mount --rbind /dev ${q(`${root}/dev`)}`);
  for (const { from, to, readOnly } of binds) {
    setup.push(`mount --bind ${q(from)} ${q(root + to)}`);
    if (readOnly) setup.push(`mount -o remount,bind,ro ${q(root + to)}`);
  }
  if (readOnlyRoot) setup.push(`mount -t tmpfs tmpfs ${q(`${root}/tmp`)}`, `mount -o remount,bind,ro ${q(root)}`);
  const vars = Object.entries({ PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', HOME: '/root', ...env });
  const drop =
    uid === 0 ? '' : `setpriv --reuid ${uid} --regid ${uid} --clear-groups --bounding-set=-all --no-new-privs`;
  const start = `cd ${q(cwd)} && exec env -i ${vars.map(([k, v]) => `${k}=${q(v)}`).join(' ')} ${command.map(q).join(' ')}`;
  setup.push(`exec chroot ${q(root)} ${drop} /bin/sh -c ${q(start)}`);
  return [
    '--mount',
    '--pid',
    '--ipc',
    '--fork',
    '--kill-child',
    '--propagation',
    'private',
    'sh',
    '-c',
    setup.join('\n'),
  ];
}

/** Runs the program to its end; throws when it fails. */
export function runInside(options) {
  const stdout = options.quiet ? 'ignore' : 2; // our own stdout is for figures
  const { status } = spawnSync('unshare', inside(options), { stdio: ['ignore', stdout, 'inherit'] });
  if (status !== 0) throw new Error(`exit code ${status}: ${options.command.join(' ')}`);
}

/** Starts the program and returns the process that waits for it: see `innerPid`. */
export const startInside = (options, stdio) => spawn('unshare', inside(options), { stdio });

/**
 * The first process inside, with its pid outside. Signals go to it, because `unshare` ignores signals while it waits.
 */
export const innerPid = ({ pid }) => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
