// What the tests need beyond npm: a real redis-server. Installs it with apt where that is possible, else says what to do.
import { execFileSync, spawnSync } from 'node:child_process';

const present = (binary) => spawnSync(binary, ['--version'], { stdio: 'ignore' }).status === 0;

if (!present('redis-server')) {
  const canInstall = process.getuid?.() === 0 && present('apt-get');
  if (!canInstall) {
    console.error('The tests need a real redis-server: install it first (Debian: apt-get install redis-server).');
    process.exit(1);
  }
  console.error('Installing redis-server with apt …');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('apt-get', ['update', '-qq'], { stdio: 'inherit', env });
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'redis-server'], {
    stdio: 'inherit',
    env,
  });
}
