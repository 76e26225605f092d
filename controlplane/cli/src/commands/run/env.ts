/**
 * `acg env`: prints the variables of `acg run` for a shell or an IDE. Does not revoke the token, because the end of its
 * use is unknown.
 */
import { type Command, Option } from 'commander';
import { resolveGatewayUrl } from '../../invocation/data-plane-client.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { parseDuration } from '../../options/parse-duration.js';
import { ENV_FORMATS, type EnvFormat, formatVariables } from '../../run/format-variables.js';
import { revokeCommand, revokeMintedToken, withGatewayToken } from '../../run/gateway-token.js';
import { prepareRun } from '../../run/prepare-run.js';
import { formatDuration } from '../../terminal/format-numbers-and-times.js';
import { addRunOptions, type RunOptions } from './run.js';

export function registerEnvCommand(command: Command, { begin }: ProgramInterface): void {
  addRunOptions(command)
    .addOption(new Option('--format <format>', 'for what').choices(ENV_FORMATS).default('sh'))
    .action(async (options: RunOptions & { readonly format: EnvFormat }) => {
      const run = begin();
      const ttlMs = parseDuration(options.ttl, '--ttl');
      const gatewayUrl = await resolveGatewayUrl(run);
      const { token, plan } = await withGatewayToken(
        run,
        { agent: options.agent, personal: options.personal, ttlMs },
        async (candidate) => ({
          token: candidate,
          plan: await prepareRun(run, options, { token: candidate, gatewayUrl }).catch(async (error: unknown) => {
            await revokeMintedToken(run, candidate, gatewayUrl);
            throw error;
          }),
        }),
      );
      const { added, removed, remarks } = plan;
      const { format } = options;
      if (run.isJson || format === 'json')
        run.printResult({ set: added, unset: removed.filter((name) => !Object.hasOwn(added, name)) }, () =>
          run.printLine(JSON.stringify(added, null, 2)),
        );
      else run.printLine(formatVariables({ added, removed }, format));
      if (token.source === 'minted')
        run.printNote(`a token for ${formatDuration(ttlMs)}; end it: ${revokeCommand(token)} ${token.keyId}`);
      for (const remark of remarks) run.printNote(remark);
    });
}
