/** nginx as the reference: as a plain proxy, and with Lua and Redis doing equivalent token and limit checks. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@acg/test/fixtures/free-port';
import { type Child, startChild } from '../child-process.js';
import { temporaryDirectory } from '../teardown.js';

const LUA_MODULES = ['/usr/lib/nginx/modules/ndk_http_module.so', '/usr/lib/nginx/modules/ngx_http_lua_module.so'];
const LUA_REDIS = ['/usr/share/lua/5.1/nginx/redis.lua', '/usr/share/lua/5.1/resty/redis.lua'].find((p) =>
  existsSync(p),
);

export const nginxAvailable = (): boolean => existsSync('/usr/sbin/nginx');
export const luaAvailable = (): boolean =>
  nginxAvailable() && LUA_MODULES.every((p) => existsSync(p)) && LUA_REDIS !== undefined;

interface Reference {
  readonly url: string;
  readonly child: Child;
}

const page = (directory: string, modules: string, http: string, server: string): string => `
daemon off; master_process off; worker_processes 1; pid ${directory}/pid; error_log ${directory}/error.log warn;
${modules}
events { worker_connections 16384; }
http {
  access_log off; client_body_temp_path ${directory}/body; proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/f; uwsgi_temp_path ${directory}/u; scgi_temp_path ${directory}/s;
  keepalive_requests 100000000; client_max_body_size 0; client_body_buffer_size 64k;
${http}
  server {
${server}
  }
}
`;

const upstream = (port: number): string =>
  `  upstream provider { server 127.0.0.1:${port}; keepalive 128; keepalive_requests 100000000; }\n`;
const forward =
  'proxy_pass https://provider; proxy_ssl_session_reuse on; proxy_http_version 1.1; proxy_set_header Connection "";';

async function start(name: string, config: (directory: string, port: number) => string): Promise<Reference> {
  const directory = temporaryDirectory();
  const port = await freePort();
  writeFileSync(join(directory, 'nginx.conf'), config(directory, port));
  const child = await startChild(name, '/usr/sbin/nginx', ['-p', directory, '-c', join(directory, 'nginx.conf')], port);
  return { url: `http://127.0.0.1:${port}`, child };
}

/** Without any checks; the minimum cost of a proxy. */
export const startPlainNginx = (providerPort: number): Promise<Reference> =>
  start('nginx', (directory, port) =>
    page(
      directory,
      '',
      upstream(providerPort),
      `    listen 127.0.0.1:${port};\n    location / { ${forward} proxy_buffering off; proxy_request_buffering off; }`,
    ),
  );

/**
 * Token hash lookup, status, RPM, RPD and budget in one script call per request, credential injected: like the gateway
 * without metering, prices, spool and usage batches.
 */
export function startLuaNginx(providerPort: number, redisPort: number, script: string): Promise<Reference> {
  const modules = LUA_MODULES.map((path) => `load_module ${path};`).join('\n');
  const module = LUA_REDIS!.includes('/nginx/') ? 'nginx.redis' : 'resty.redis';
  const init = `
  lua_package_path '/usr/share/lua/5.1/?.lua;;';
  lua_shared_dict contexts 16m;
  init_by_lua_block {
    redis = require '${module}'
    sha = '${script}'
  }
`;
  const access = `
      access_by_lua_block {
        local token = string.sub(ngx.var.http_authorization or '', 8)
        local hash = ngx.encode_base64(ngx.sha1_bin(token))
        local context = ngx.shared.contexts:get(hash)
        if not context then
          context = 'agent-1|active'
          ngx.shared.contexts:set(hash, context)
        end
        local agent = string.match(context, '^(.-)|active$')
        if not agent then return ngx.exit(403) end
        local red = redis:new()
        red:set_timeout(50)
        local ok = red:connect('127.0.0.1', ${redisPort})
        if ok then
          local res = red:evalsha(sha, 3, '{' .. agent .. '}:rpm', '{' .. agent .. '}:rpd', '{' .. agent .. '}:spend', 1000000, 1000000000, 1000000000000)
          red:set_keepalive(60000, 128)
          if type(res) == 'table' and res[1] ~= 0 then return ngx.exit(429) end
        end
        ngx.req.set_header('Authorization', 'Bearer sk-real-0123456789')
      }`;
  return start('nginx + Lua + Redis', (directory, port) =>
    page(
      directory,
      modules,
      init + upstream(providerPort),
      `    listen 127.0.0.1:${port};\n    location / {${access}\n      ${forward}\n    }`,
    ),
  );
}

/** The equivalent of the gateway's admission for the Lua reference: sliding minute, day, month spend. */
export const ADMIT_SCRIPT = `
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local spent = tonumber(redis.call('GET', KEYS[3]) or '0')
local day = tonumber(redis.call('GET', KEYS[2]) or '0')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 60000000)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return { 1 } end
if day >= tonumber(ARGV[2]) then return { 2 } end
if spent >= tonumber(ARGV[3]) then return { 3 } end
redis.call('ZADD', KEYS[1], now, now)
redis.call('PEXPIRE', KEYS[1], 60000)
if redis.call('INCR', KEYS[2]) == 1 then redis.call('EXPIRE', KEYS[2], 86400) end
return { 0 }
`;
