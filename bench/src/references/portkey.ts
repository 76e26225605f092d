/**
 * Another gateway from npm as the reference, without any checks. It is no dependency of the workspace, for its own
 * dependencies run scripts when they are installed: it is fetched without them when the bench runs, and kept.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '@acg/test/free-port';
import { type Child, startChild } from '../child.js';
import type { Provider } from '../provider.js';
import { stopAtTeardown } from '../teardown.js';

const execute = promisify(execFile);

const NAME = '@portkey-ai/gateway';
const VERSION = '1.15.2';
const PEERS = fileURLToPath(new URL('../../.peers/', import.meta.url));
const HOME = join(PEERS, 'node_modules', NAME);
const INSTALL_TIMEOUT_MS = 60_000;

/** Null when it is there; else why not, in a few words. */
export async function installPortkey(): Promise<string | null> {
  if (installedVersion() === VERSION) return null;
  mkdirSync(PEERS, { recursive: true });
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=0'];
  const args = ['install', ...options, '--prefix', PEERS, `${NAME}@${VERSION}`];
  try {
    const running = execute('npm', args, { cwd: PEERS, timeout: INSTALL_TIMEOUT_MS });
    const ended = stopAtTeardown(running.child);
    await running;
    await ended();
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    const lines = (stderr || message).trim().split('\n');
    return `could not be installed (${lines.find((line) => line.includes('error')) ?? lines[0]})`;
  }
  return installedVersion() === VERSION ? null : 'npm did not install it';
}

/** Takes calls at `/v1`, with {@link portkeyHeaders}. */
export async function startPortkey(provider: Provider): Promise<{ readonly url: string; readonly child: Child }> {
  const port = await freePort();
  const script = join(HOME, 'build', 'start-server.js');
  const env = { NODE_ENV: 'production', ...provider.trust };
  const child = await startChild('portkey', process.execPath, [script, `--port=${port}`, '--headless'], port, env);
  return { url: `http://127.0.0.1:${port}/v1`, child };
}

export const portkeyHeaders = (provider: Provider): Readonly<Record<string, string>> => ({
  'x-portkey-provider': 'openai',
  'x-portkey-custom-host': `${provider.origin}/v1`,
});

function installedVersion(): string | null {
  const manifest = join(HOME, 'package.json');
  return existsSync(manifest) ? (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version : null;
}
