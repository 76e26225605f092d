/**
 * References from npm. They are not dependencies of the workspace, because their own dependencies may run scripts
 * during installation. The bench downloads each without scripts and keeps it.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stopAtTeardown } from '../teardown.js';

const execute = promisify(execFile);

const PACKAGES_DIRECTORY = fileURLToPath(new URL('../../.peers/', import.meta.url));
const INSTALL_TIMEOUT_MS = 120_000;

/** Directory of the installed package. */
export const packageDirectory = (name: string): string => join(PACKAGES_DIRECTORY, 'node_modules', name);

/** Null when the package is installed, otherwise a short reason. */
export async function installReferencePackage(name: string, version: string): Promise<string | null> {
  if (installedVersion(name) === version) return null;
  mkdirSync(PACKAGES_DIRECTORY, { recursive: true });
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=0'];
  const args = ['install', ...options, '--prefix', PACKAGES_DIRECTORY, `${name}@${version}`];
  try {
    const running = execute('npm', args, { cwd: PACKAGES_DIRECTORY, timeout: INSTALL_TIMEOUT_MS });
    const ended = stopAtTeardown(running.child);
    await running;
    await ended();
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    const lines = (stderr || message).trim().split('\n');
    return `could not be installed (${lines.find((line) => line.includes('error')) ?? lines[0]})`;
  }
  return installedVersion(name) === version ? null : 'npm did not install it';
}

function installedVersion(name: string): string | null {
  const manifest = join(packageDirectory(name), 'package.json');
  return existsSync(manifest) ? (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version : null;
}
