/** `acg circuits`: lists the circuit breakers of the organization's origins; closes one or holds it open. */
import { MINUTE_MS } from '@acg/base/units';
import { type Command, Option } from 'commander';
import { omitUndefined } from '../../api/omit-undefined.js';
import type { CommandContext } from '../../invocation/command-context.js';
import { parseDuration } from '../../options/parse-duration.js';
import { addPageOptions, type PageOptions, printRemainingRows, toPageQuery } from '../../options/parse-options.js';
import { formatAgo, formatMinute } from '../../terminal/format.js';
import { requireConfirmation } from '../../terminal/prompt.js';

const STATES = ['closed', 'open', 'half_open'] as const;
type CircuitState = (typeof STATES)[number];
interface CircuitOptions extends PageOptions {
  readonly state?: CircuitState;
}
interface OverrideOptions {
  readonly origin?: string;
}

export function registerCircuitCommand(command: Command, { begin }: CommandContext): void {
  addPageOptions(command)
    .addOption(new Option('--state <state>', 'only those').choices(STATES))
    .action(async (options: CircuitOptions) => {
      const run = begin();
      const query = {
        ...omitUndefined({ state: options.state?.toUpperCase() as Uppercase<CircuitState> | undefined }),
        ...toPageQuery(options),
      };
      const answer = await (await run.getClient()).get('/v1/circuits', { params: { query } });
      run.printResult(answer, () =>
        run.printTable(
          [
            { title: 'PROVIDER', cell: ({ providerSlug }) => providerSlug },
            { title: 'ORIGIN', cell: ({ origin }) => origin },
            { title: 'STATE', cell: ({ state }) => state },
            { title: 'REASON', cell: ({ reason }) => reason ?? '–' },
            { title: 'SINCE', cell: ({ since }) => formatAgo(since, Date.now()) },
            { title: 'NEXT PROBE (UTC)', cell: ({ nextProbeAt }) => formatMinute(nextProbeAt) },
          ],
          answer.circuits,
        ),
      );
      printRemainingRows(run, answer.circuits.length, answer);
    });
  registerOverrideCommand(command, 'close', 'let calls to a provider pass again').action(
    async (providerSlug: string, { origin }: OverrideOptions) => {
      const run = begin();
      const body = { providerSlug, state: 'CLOSED' as const, ...omitUndefined({ origin }) };
      const answer = await (await run.getClient()).put('/v1/circuits', { body });
      run.printResult(answer, () => run.printSuccess(`calls to ${answer.circuit.origin} pass`));
    },
  );
  registerOverrideCommand(command, 'hold', 'refuse the calls of the organization to a provider for some time')
    .option('--for <span>', 'at most 24h', '1h')
    .action(async (providerSlug: string, { origin, for: span }: OverrideOptions & { readonly for: string }) => {
      const run = begin();
      const holdMinutes = Math.ceil(parseDuration(span, '--for') / MINUTE_MS);
      const client = await run.getClient();
      await requireConfirmation(run, `Refuse all calls of the organization to ${providerSlug} for ${span}?`);
      const body = { providerSlug, state: 'OPEN' as const, holdMinutes, ...omitUndefined({ origin }) };
      const answer = await client.put('/v1/circuits', { body });
      const until = formatMinute(answer.circuit.nextProbeAt);
      run.printResult(answer, () =>
        run.printSuccess(`calls to ${answer.circuit.origin} are refused until ${until} UTC`),
      );
    });
}

const registerOverrideCommand = (command: Command, name: string, description: string): Command =>
  command
    .command(name)
    .description(description)
    .argument('<provider>', 'its slug')
    .option('--origin <origin>', 'where the organization has accounts at several origins of the provider');
