/** `acg env`: the variables of `acg run`, for a shell or an IDE. The token is not revoked: nobody knows when it is done with. */
import { type Command, Option } from 'commander';
import { gatewayUrlOf } from '../run/gateway.js';
import { gatewayToken, revokeMinted } from '../run/gateway-token.js';
import { prepare } from '../run/prepare.js';
import { type EnvFormat, FORMATS, variablesAsText } from '../run/shell-text.js';
import { duration } from '../terminal/format.js';
import { parseDuration } from './duration.js';
import { addRunOptions, type RunOptions } from './run.js';
import type { Tree } from './tree.js';

export function envCommand(command: Command, { begin }: Tree): void {
  addRunOptions(command)
    .addOption(new Option('--format <format>', 'for what').choices(FORMATS).default('sh'))
    .action(async (options: RunOptions & { readonly format: EnvFormat }) => {
      const run = begin();
      const ttlMs = parseDuration(options.ttl, '--ttl');
      const gatewayUrl = await gatewayUrlOf(run);
      const token = await gatewayToken(run, options.agent, ttlMs);
      const plan = await prepare(run, options, { token, gatewayUrl }).catch(async (error: unknown) => {
        await revokeMinted(run, token);
        throw error;
      });
      const { added, removed, remarks } = plan;
      const { format } = options;
      if (run.json || format === 'json')
        run.show({ set: added, unset: removed.filter((name) => !Object.hasOwn(added, name)) }, () =>
          run.out(JSON.stringify(added, null, 2)),
        );
      else run.out(variablesAsText({ added, removed }, format));
      if (token.source === 'minted') run.note(`a token for ${duration(ttlMs)}; end it: acg keys revoke ${token.keyId}`);
      for (const remark of remarks) run.note(remark);
    });
}
