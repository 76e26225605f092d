// Builds the images' root file systems for each Node version and runs them as their user, without a container engine:
// the README's quickstart against the all-in-one image; then both planes with the settings of compose.yaml behind nginx,
// Redis and Postgres: calls, hostile requests, load. Prints one table. Everything runs in a network of its own.
// Needs Linux, root, debootstrap, nginx, redis-server, a Debian mirror, the npm registry, and `npm run build`.
//   node deploy/rootfs/try-images.mjs [--node 24 --node 20] [--cache DIRECTORY] [--reuse: of images built before]
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildImage } from './build-image.mjs';
import { say } from './debootstrap-base-root.mjs';
import { tryAllInOne } from './try-all-in-one.mjs';
import { tryPlanes } from './try-planes.mjs';

const { values } = parseArgs({
  options: {
    node: { type: 'string', multiple: true, default: ['24', '20'] },
    cache: { type: 'string', default: join(tmpdir(), 'acg-rootfs') },
    reuse: { type: 'boolean', default: false },
    inside: { type: 'string' },
  },
});
const cache = resolve(values.cache);
const IMAGES = ['gateway', 'controlplane', 'dataplane'];
const megabytes = (path) => Number(spawnSync('du', ['-sm', path], { encoding: 'utf8' }).stdout.split('\t')[0]);

if (values.inside === undefined) {
  const columns = values.node.map((node) => {
    const built = {};
    const figures = {};
    for (const image of IMAGES) {
      const out = join(cache, `${image}-${node}`);
      const done = join(out, 'image.json');
      const base =
        values.reuse && existsSync(done)
          ? { root: join(out, '1'), config: JSON.parse(readFileSync(done, 'utf8')) }
          : buildImage({ image, node, out, cache });
      built[image] = base;
      figures[`${image}: node_modules, MB`] = megabytes(join(base.root, 'app/node_modules'));
      figures[`${image}: files beside Debian and Node, MB`] = megabytes(join(base.root, 'app'));
    }
    const home = mkdtempSync(join(tmpdir(), 'acg-trial-'));
    chmodSync(home, 0o711); // other users may enter the folders inside
    const again = [fileURLToPath(import.meta.url), '--inside', JSON.stringify({ built, home })];
    const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] };
    const apart = ['--net', '--mount', '--propagation', 'private', process.execPath, ...again];
    const { status, stdout } = spawnSync('unshare', apart, options);
    rmSync(home, { recursive: true, force: true }); // its mounts ended with the process
    if (status !== 0) process.exit(1);
    return { ...figures, ...JSON.parse(stdout) };
  });
  const cores = cpus();
  console.log(`${cores[0].model}, ${cores.length} cores, load ${loadavg()[0].toFixed(1)} at the end\n`);
  console.log(
    `| | ${values.node.map((node) => `Node ${node}`).join(' | ')} |\n|---|${values.node.map(() => '--:|').join('')}`,
  );
  for (const name of Object.keys(columns[0])) {
    console.log(`| ${name} | ${columns.map((column) => column[name]).join(' | ')} |`);
  }
} else {
  const { built, home } = JSON.parse(values.inside);
  spawnSync('ip', ['link', 'set', 'lo', 'up']);
  say('the all-in-one image');
  const figures = await tryAllInOne(built.gateway, home);
  say('both planes behind nginx');
  Object.assign(figures, await tryPlanes(built, home));
  console.log(JSON.stringify(figures));
}
