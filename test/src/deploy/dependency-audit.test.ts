/** The audit of dependencies against registries with findings, without findings, and without support for audits. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

const advisory = (severity: string) => ({
  id: 1,
  url: 'https://example.com/advisory',
  title: 'Lets strangers in',
  severity,
  vulnerable_versions: '*',
});

async function runAudit(status: number, advisories: object): Promise<{ code: number; output: string }> {
  const server: Server = createServer((request, response) => {
    request.resume();
    const name = decodeURIComponent(request.url!.slice(1));
    const versions = { '0.0.1': { name, version: '0.0.1' } };
    const known = request.method === 'POST' ? advisories : { name, 'dist-tags': { latest: '0.0.1' }, versions };
    request.on('end', () => response.writeHead(status).end(JSON.stringify(known)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const cache = mkdtempSync(join(tmpdir(), 'acg-npm-'));
  const env = { ...process.env, npm_config_registry: registry, npm_config_cache: cache, npm_config_fetch_retries: '0' };
  const child = spawn(process.execPath, ['scripts/audit-dependencies.mjs'], { cwd: root, env });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number];
  rmSync(cache, { recursive: true, force: true });
  server.close();
  server.closeAllConnections();
  return { code, output };
}

test.concurrent.each([
  ['a serious weakness of a package in use fails', 200, { undici: [advisory('high')] }, 1, 'high: undici'],
  ['a lesser one is named', 200, { undici: [advisory('low')] }, 0, 'low: undici'],
  [
    'of a package that only tests use it is none',
    200,
    { openai: [advisory('critical')] },
    0,
    'audit: 0 vulnerable packages',
  ],
  ['nor of one that only builds', 200, { 'protobufjs-cli': [advisory('critical')] }, 0, 'audit: 0 vulnerable packages'],
  ['a registry without audits passes and says so', 405, {}, 0, 'audit: no registry responded (405'],
])('audit: %s', async (_what, status, advisories, code, text) => {
  const result = await runAudit(status, advisories);
  expect(result.output).toContain(text);
  expect(result.code).toBe(code);
});
