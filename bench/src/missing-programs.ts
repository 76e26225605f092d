/** Programs from Debian packages. When one is missing, only the results that need it are skipped. */
import { spawnSync } from 'node:child_process';
import { luaAvailable, nginxAvailable } from './references/nginx.js';

interface Requirements {
  /** Without Redis the bench cannot run: the data plane would use other counters. */
  readonly redis: boolean;
  /** One line for each missing program, with the command that installs it. */
  readonly advice: readonly string[];
}

const runs = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

export function checkRequiredPrograms(): Requirements {
  const redis = runs('redis-server') && runs('redis-cli');
  const advice: string[] = [];
  if (!redis) advice.push('redis-server is missing, the bench cannot run: apt-get install redis-server redis-tools');
  if (!nginxAvailable()) advice.push('nginx is missing, its references are skipped: apt-get install nginx-light');
  if (!luaAvailable())
    advice.push(
      'nginx + Lua + Redis is skipped: apt-get install nginx libnginx-mod-http-lua lua-nginx-redis redis-server',
    );
  return { redis, advice };
}
