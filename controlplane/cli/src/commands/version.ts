/** `acg version`: prints the version of this program and, if reachable, of the gateway. */
import type { Command } from 'commander';
import type { ProgramInterface } from '../invocation/program-interface-for-commands.js';
import { VERSION } from '../invocation/version.js';

export function registerVersionCommand(command: Command, { begin }: ProgramInterface): void {
  command.action(async () => {
    const run = begin();
    const config = await run
      .createPublicClient()
      .get('/v1/config')
      .catch(() => null);
    const body = { acg: VERSION, node: process.versions.node, url: run.settings.url, gateway: config?.version ?? null };
    run.printResult(body, () =>
      run.printFields({ acg: VERSION, node: body.node, gateway: `${body.gateway ?? 'not reachable'} at ${body.url}` }),
    );
  });
}
