/** `acg version`: this program's, and the gateway's where it can be asked. */
import type { Command } from 'commander';
import { VERSION } from '../invocation/version.js';
import type { Tree } from './tree.js';

export function versionCommand(command: Command, { begin }: Tree): void {
  command.action(async () => {
    const run = begin();
    const config = await run
      .publicClient()
      .get('/v1/config')
      .catch(() => null);
    const body = { acg: VERSION, node: process.versions.node, url: run.settings.url, gateway: config?.version ?? null };
    run.show(body, () =>
      run.facts({ acg: VERSION, node: body.node, gateway: `${body.gateway ?? 'not reachable'} at ${body.url}` }),
    );
  });
}
