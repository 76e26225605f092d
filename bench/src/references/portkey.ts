/** Another gateway from npm as the reference, without any checks. */
import { join } from 'node:path';
import { freePort } from '@acg/test/fixtures/free-port';
import { type Child, startChild } from '../child-process.js';
import type { Provider } from '../start-mock-provider.js';
import { installReferencePackage, packageDirectory } from './install-reference-package.js';

const NAME = '@portkey-ai/gateway';

/** Null when the package is installed, otherwise a short reason. */
export const installPortkey = (): Promise<string | null> => installReferencePackage(NAME, '1.15.2');

/** Accepts calls at `/v1`, with {@link portkeyHeaders}. */
export async function startPortkey(provider: Provider): Promise<{ readonly url: string; readonly child: Child }> {
  const port = await freePort();
  const script = join(packageDirectory(NAME), 'build', 'start-server.js');
  const env = { NODE_ENV: 'production', ...provider.trust };
  const child = await startChild('portkey', process.execPath, [script, `--port=${port}`, '--headless'], port, env);
  return { url: `http://127.0.0.1:${port}/v1`, child };
}

export const portkeyHeaders = (provider: Provider): Readonly<Record<string, string>> => ({
  'x-portkey-provider': 'openai',
  'x-portkey-custom-host': `${provider.origin}/v1`,
});
