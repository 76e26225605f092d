/**
 * Runs the shipped nginx file in a real nginx, in front of servers that record requests and return malicious responses.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { freePort } from '../fixtures/free-port.js';
import { waitUntil } from '../fixtures/wait-until.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'acg-nginx-'));
let nginx: ChildProcess;
let nginxOutput = '';
let agents = 0;
let operators = 0;

interface ReceivedRequest {
  readonly at: 'dataplane' | 'controlplane';
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
}
let receivedRequests: ReceivedRequest[] = [];
const servers: Server[] = [];

/** Responses that a tenant's provider may return. */
const HOSTILE_RESPONSE_HEADERS: Readonly<Record<string, string>> = {
  'X-Accel-Redirect': '/v1/proxy/openai/v1/files',
  'X-Accel-Expires': '3600',
  'X-Accel-Limit-Rate': '1',
  'X-Accel-Buffering': 'yes',
  'X-Accel-Charset': 'utf-7',
  'X-Sendfile': '/etc/passwd',
};

async function startUpstream(at: ReceivedRequest['at']): Promise<number> {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const lines = request.rawHeaders;
    const headers = Array.from(
      { length: lines.length / 2 },
      (_, i) => [lines[2 * i]!.toLowerCase(), lines[2 * i + 1]!] as const,
    );
    receivedRequests.push({ at, target: request.url!, headers });
    request.resume();
    response.writeHead(200, { ...HOSTILE_RESPONSE_HEADERS, 'X-Provider': 'kept' }).end(`from ${request.url}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return (server.address() as AddressInfo).port;
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

beforeAll(async () => {
  execFileSync('sh', [join(root, 'deploy/make-certificates.sh'), join(home, 'tls')]);
  const dataplane = await startUpstream('dataplane');
  const controlplane = await startUpstream('controlplane');
  agents = await freePort();
  operators = await freePort();
  const replace: readonly (readonly [RegExp, string])[] = [
    [/\/tmp\//g, `${home}/`],
    [/\/etc\/nginx\/tls/g, `${home}/tls/front`],
    [/dataplane-[12]:8081/g, `127.0.0.1:${dataplane}`],
    [/controlplane:8080/g, `127.0.0.1:${controlplane}`],
    [/listen 8443/g, `listen 127.0.0.1:${agents}`],
    [/listen 8444/g, `listen 127.0.0.1:${operators}`],
    [/worker_processes auto/g, 'worker_processes 1'],
    [/worker_rlimit_nofile.*/g, ''],
    [/worker_connections 16384/g, 'worker_connections 512'],
  ];
  let config = readFileSync(join(root, 'deploy/nginx/gateway.conf'), 'utf8');
  for (const [from, to] of replace) {
    expect(config).toMatch(from);
    config = config.replaceAll(from, to);
  }
  writeFileSync(join(home, 'nginx.conf'), `daemon off;\n${process.getuid?.() === 0 ? 'user root;\n' : ''}${config}`);
  nginx = spawn('nginx', ['-e', 'stderr', '-c', join(home, 'nginx.conf')], {
    env: { PATH: `${process.env.PATH}:/usr/sbin` }, // Debian installs it outside the PATH of users
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  nginx.stderr!.on('data', (chunk: Buffer) => {
    nginxOutput += chunk.toString();
  });
  await waitUntil('nginx listens', async () => {
    if (nginx.exitCode !== null) throw new Error(nginxOutput);
    return (await accepts(agents)) && (await accepts(operators));
  });
});
afterAll(async () => {
  if (nginx !== undefined && nginx.exitCode === null) {
    const gone = once(nginx, 'exit');
    nginx.kill('SIGTERM');
    await gone;
  }
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  rmSync(home, { recursive: true, force: true });
});
beforeEach(() => {
  receivedRequests = [];
});

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Sends `path` unchanged. */
function get(port: number, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = httpsRequest({ port, host: '127.0.0.1', path, headers, rejectUnauthorized: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body }));
    });
    call.once('error', reject);
    call.end();
  });
}

const headerValues = (name: string): readonly string[] =>
  receivedRequests.flatMap(({ headers }) => headers.filter(([n]) => n === name).map(([, value]) => value));

test('nginx: accepts its file without warnings', () => {
  expect(nginxOutput).toBe('');
});

test('nginx: ignores control headers of a provider', async () => {
  const answer = await get(agents, '/v1/proxy/mine/x');
  expect(answer).toMatchObject({ status: 200, body: 'from /v1/proxy/mine/x' });
  expect(receivedRequests.map(({ target }) => target)).toEqual(['/v1/proxy/mine/x']); // no other request was sent
  expect(answer.headers['x-provider']).toBe('kept');
  for (const name of Object.keys(HOSTILE_RESPONSE_HEADERS))
    expect(answer.headers[name.toLowerCase()], name).toBe(undefined);
  expect(answer.headers['content-type'] ?? '').not.toContain('utf-7');
});

test.each([
  ['agents', () => agents],
  ['operators', () => operators],
])(
  'nginx: tells the planes who called by which name, port included, whatever %s say themselves',
  async (_who, port) => {
    await get(port(), '/v1/x', {
      host: `gateway.example.com:${port()}`,
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-host': 'evil.example.com',
      'x-forwarded-proto': 'http',
      forwarded: 'for=203.0.113.9;host=evil.example.com',
    });
    expect(headerValues('host')).toEqual([`gateway.example.com:${port()}`]);
    expect(headerValues('x-forwarded-host')).toEqual([`gateway.example.com:${port()}`]);
    expect(headerValues('x-forwarded-proto')).toEqual(['https']);
    expect(headerValues('x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(headerValues('forwarded')).toEqual([]);
  },
);

test('nginx: the request target of an agent goes through byte for byte', async () => {
  const target = '/v1/proxy/s3/bucket//a%2Fb/./%7Ec?x=%20&y';
  await get(agents, target);
  expect(receivedRequests.map((one) => one.target)).toEqual([target]);
});

test.each(['/metrics', '/metrics?x=1', '//metrics', '/%6detrics', '/./metrics', '/x/../metrics', '/readyz'])(
  'nginx: %s stays inside',
  async (path) => {
    expect((await get(operators, path)).status).toBe(404);
    expect(receivedRequests).toEqual([]);
  },
);

test('nginx: an agent reaches data planes only, an operator control planes only', async () => {
  await get(agents, '/v1/agents');
  await get(operators, '/v1/proxy/openai/x');
  expect(receivedRequests.map(({ at }) => at)).toEqual(['dataplane', 'controlplane']);
});
