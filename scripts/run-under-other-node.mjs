// Runs a command under another major version of Node, which it installs on demand:
//
//   node scripts/run-under-other-node.mjs 24 npm test
//
// The program comes from npm, at the version below. The native parts of the data plane need glibc 2.38 for Node 22 and
// 24. On a system with an older glibc, that of Debian 13 is unpacked beside the program and the program's ELF header is
// changed to load it, so that `process.execPath` and every child process work. All files stay in the user's cache folder.
// Needs no root, only npm, apt-get and Debian's keys. Other programs (Postgres, Redis, shells) keep the system's own libraries.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

const NODE = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0' };
const GLIBC = { 20: '2.27', 22: '2.38', 24: '2.38' };
/** Folder of Debian's libraries and of the loader. */
const DEBIAN = {
  x64: ['x86_64-linux-gnu', 'ld-linux-x86-64.so.2'],
  arm64: ['aarch64-linux-gnu', 'ld-linux-aarch64.so.1'],
};
/** Debian 12's patchelf, because that of Debian 13 produces a Node that crashes at startup. */
const PACKAGES = ['libc6/trixie', 'libstdc++6/trixie', 'libgcc-s1/trixie', 'patchelf/bookworm'];
const KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg';
const NEWEST_KEY = '/usr/share/keyrings/debian-archive-trixie-stable.gpg';

process.report.excludeNetwork = true; // else it looks up names
const quiet = { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 };
const glibc = process.report.getReport().header.glibcVersionRuntime ?? '0';
const atLeast = (version, floor) => version.localeCompare(floor, undefined, { numeric: true }) >= 0;

class Unable extends Error {}

/** Runs a tool; a missing tool becomes a one-line error. */
function run(tool, args, needs, options = {}) {
  try {
    return execFileSync(tool, args, { ...quiet, ...options });
  } catch (error) {
    const said = String(error.stderr ?? error.message)
      .trim()
      .split('\n')
      .at(-1);
    throw new Unable(`needs ${needs} (${tool}: ${error.code === 'ENOENT' ? 'not found' : said})`);
  }
}

/** Unpacks Debian packages into `folder`. Uses separate apt lists, which apt verifies with Debian's keys. */
function bringDebian(folder) {
  if (!existsSync(NEWEST_KEY) && process.getuid() === 0) {
    run('apt-get', ['update'], 'apt-get');
    run('apt-get', ['install', '-y', '--no-install-recommends', 'debian-archive-keyring'], 'apt-get');
  }
  if (!existsSync(KEYS)) throw new Unable('needs glibc 2.38, or the package debian-archive-keyring to fetch it');
  const apt = join(folder, 'apt');
  mkdirSync(join(apt, 'lists/partial'), { recursive: true });
  mkdirSync(join(apt, 'archives/partial'), { recursive: true });
  const sites = run('apt-get', ['indextargets', '--format', '$(SITE)', 'Created-By: Packages'], 'apt-get').split('\n');
  const mirror = sites.find((site) => site.endsWith('/debian')) ?? 'http://deb.debian.org/debian';
  const suites = [...new Set(PACKAGES.map((name) => name.split('/')[1]))];
  const lines = suites.map((suite) => `deb [signed-by=${KEYS}] ${mirror} ${suite} main\n`);
  writeFileSync(join(apt, 'sources.list'), lines.join(''));
  const own = [`Dir::Etc::SourceList=${apt}/sources.list`, 'Dir::Etc::SourceParts=-', `Dir::State::Lists=${apt}/lists`];
  own.push(`Dir::Cache=${apt}`, 'APT::Sandbox::User=', 'Acquire::Languages=none', 'Acquire::Retries=3');
  const settings = own.flatMap((setting) => ['-o', setting]);
  const needs = `Debian's packages from ${mirror}`;
  run('apt-get', [...settings, 'update'], needs);
  run('apt-get', [...settings, 'download', ...PACKAGES], needs, { cwd: apt });
  for (const file of readdirSync(apt).filter((name) => name.endsWith('.deb'))) {
    run('dpkg-deb', ['-x', join(apt, file), folder], 'dpkg-deb');
  }
  rmSync(apt, { recursive: true });
}

function bringNode(version, folder) {
  const name = `node-linux-${process.arch}`;
  const needs = `${name}@${version} from the npm registry`;
  run('npm', ['pack', '--silent', `${name}@${version}`], needs, { cwd: folder });
  const archive = join(folder, `${name}-${version}.tgz`);
  run('tar', ['-xzf', archive, '-C', folder, '--strip-components=1', 'package/bin/node'], 'tar');
  rmSync(archive);
  chmodSync(join(folder, 'bin/node'), 0o755);
}

/** Returns the folder that holds `node` of this major version. */
function bring(major) {
  if (process.versions.node.startsWith(`${major}.`) && atLeast(glibc, GLIBC[major])) return null;
  const layout = DEBIAN[process.arch];
  if (process.platform !== 'linux' || layout === undefined) throw new Unable('needs Linux on x64 or arm64');
  const version = NODE[major];
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'agent-credential-gateway');
  const place = join(cache, atLeast(glibc, GLIBC[major]) ? `node-${version}` : `node-${version}-glibc`);
  const bin = join(place, 'bin');
  if (existsSync(place)) return bin;
  mkdirSync(cache, { recursive: true });
  const building = mkdtempSync(join(cache, 'building-'));
  try {
    bringNode(version, building);
    if (!atLeast(glibc, GLIBC[major])) {
      bringDebian(building);
      const [libraries, loader] = layout;
      const lib = join(place, 'usr/lib', libraries);
      // DT_RPATH instead of DT_RUNPATH, because it also applies to the libraries of addons.
      const changes = ['--set-interpreter', join(lib, loader), '--force-rpath', '--set-rpath', lib];
      const here = join(building, 'usr/lib', libraries);
      const patchelf = ['--library-path', here, join(building, 'usr/bin/patchelf')];
      run(join(here, loader), [...patchelf, ...changes, join(building, 'bin/node')], 'patchelf');
    }
    // Prepared elsewhere and renamed, so that the folder is never incomplete.
    renameSync(building, place);
  } catch (error) {
    rmSync(building, { recursive: true, force: true });
    if (!existsSync(place)) throw error; // otherwise another process has installed it meanwhile
  }
  return bin;
}

const [major, ...command] = process.argv.slice(2);
if (NODE[major] === undefined || command.length === 0) {
  console.error(`usage: node scripts/run-under-other-node.mjs ${Object.keys(NODE).join('|')} command [argument …]`);
  process.exit(64);
}
try {
  const bin = bring(major);
  const env = { ...process.env };
  // Removes the variables of an npm around this script, which would lead back to its own Node.
  for (const name of Object.keys(env)) if (name.startsWith('npm_') || name === 'NODE') delete env[name];
  if (bin !== null) env.PATH = `${bin}${delimiter}${env.PATH}`;
  const version = run('node', ['--version'], `a program that starts in ${bin}`, { env }).trim();
  console.error(`--- under Node ${version.slice(1)}: ${command.join(' ')}`);
  const { status, error } = spawnSync(command[0], command.slice(1), { stdio: 'inherit', env });
  if (error) throw new Unable(`needs ${command[0]} (${error.code})`);
  process.exit(status ?? 1);
} catch (error) {
  if (!(error instanceof Unable)) throw error;
  console.error(`other-node: Node ${major} ${error.message}`);
  process.exit(69);
}
