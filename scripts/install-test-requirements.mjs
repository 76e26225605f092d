// Installs what the tests need beyond npm: redis-server, nginx, openssl, git, a browser, clocks that tests set, and an
// identity provider that is not ours. Uses apt where possible; otherwise prints what to install.
import { execFileSync, spawnSync } from 'node:child_process';
import { bringTools } from './fetch-promtool-amtool-kubectl.mjs';

// Debian installs servers outside the PATH of ordinary users.
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin`, DEBIAN_FRONTEND: 'noninteractive' };
const present = (binary, ...args) => spawnSync(binary, args, { stdio: 'ignore', env }).status === 0;

const findMissing = () => {
  const missing = [];
  if (!present('redis-server', '--version')) missing.push('redis-server');
  if (!present('nginx', '-v')) missing.push('nginx');
  if (!present('openssl', 'version')) missing.push('openssl');
  if (!present('git', '--version')) missing.push('git');
  if (!present('faketime', '--version')) missing.push('faketime');
  if (!present('chromium-headless-shell', '--version')) missing.push('chromium-headless-shell');
  // With dbconfig-sqlite3: apt would otherwise choose dbconfig-mysql, which brings a database server's client.
  if (!present('glewlwyd', '--version')) missing.push('glewlwyd', 'dbconfig-sqlite3');
  return missing;
};

const missing = findMissing();
if (missing.length > 0) {
  const names = missing.join(' ');
  const canInstall = process.getuid?.() === 0 && present('apt-get', '--version');
  if (!canInstall) {
    console.error(`The tests need ${missing.join(' and ')}: install first (Debian: apt-get install ${names}).`);
    process.exit(1);
  }
  console.error(`Installing ${names} with apt …`);
  execFileSync('apt-get', ['update', '-qq'], { stdio: 'inherit', env });
  try {
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], { stdio: 'inherit', env });
  } catch (error) {
    // The tests start the programs themselves: a package whose service cannot be set up here is enough.
    if (findMissing().length > 0) throw error;
  }
}

const tools = bringTools();
if (tools.length > 0) {
  console.error(
    `The tests need promtool, amtool and kubectl: install first (Debian: apt-get install ${tools.join(' ')}).`,
  );
  process.exit(1);
}
