/** `acg circuits`: the origins that the organization's agents call, which of them are refused, and what to do about it. */
import { MINUTE_MS } from '@acg/base/units';
import { type Command, Option } from 'commander';
import { given } from '../api/given.js';
import { confirmed } from '../terminal/ask.js';
import { ago, minute } from '../terminal/format.js';
import { parseDuration } from './duration.js';
import { noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';

const STATES = ['closed', 'open', 'half_open'] as const;
type State = (typeof STATES)[number];
interface CircuitOptions extends PageOptions {
  readonly state?: State;
}
interface OverrideOptions {
  readonly origin?: string;
}

export function circuitCommand(command: Command, { begin }: Tree): void {
  paged(command)
    .addOption(new Option('--state <state>', 'only those').choices(STATES))
    .action(async (options: CircuitOptions) => {
      const run = begin();
      const query = {
        ...given({ state: options.state?.toUpperCase() as Uppercase<State> | undefined }),
        ...pageOf(options),
      };
      const answer = await (await run.client()).get('/v1/circuits', { params: { query } });
      run.show(answer, () =>
        run.table(
          [
            { title: 'PROVIDER', cell: ({ providerSlug }) => providerSlug },
            { title: 'ORIGIN', cell: ({ origin }) => origin },
            { title: 'STATE', cell: ({ state }) => state },
            { title: 'REASON', cell: ({ reason }) => reason ?? '–' },
            { title: 'SINCE', cell: ({ since }) => ago(since, Date.now()) },
            { title: 'NEXT PROBE (UTC)', cell: ({ nextProbeAt }) => minute(nextProbeAt) },
          ],
          answer.circuits,
        ),
      );
      noteRest(run, answer.circuits.length, answer);
    });
  overrideCommand(command, 'close', 'let calls to a provider pass again').action(
    async (providerSlug: string, { origin }: OverrideOptions) => {
      const run = begin();
      const body = { providerSlug, state: 'CLOSED' as const, ...given({ origin }) };
      const answer = await (await run.client()).put('/v1/circuits', { body });
      run.show(answer, () => run.done(`calls to ${answer.circuit.origin} pass`));
    },
  );
  overrideCommand(command, 'hold', 'refuse the calls of the organization to a provider for some time')
    .option('--for <span>', 'at most 24h', '1h')
    .action(async (providerSlug: string, { origin, for: span }: OverrideOptions & { readonly for: string }) => {
      const run = begin();
      const holdMinutes = Math.ceil(parseDuration(span, '--for') / MINUTE_MS);
      const client = await run.client();
      await confirmed(run, `Refuse all calls of the organization to ${providerSlug} for ${span}?`);
      const body = { providerSlug, state: 'OPEN' as const, holdMinutes, ...given({ origin }) };
      const answer = await client.put('/v1/circuits', { body });
      const until = minute(answer.circuit.nextProbeAt);
      run.show(answer, () => run.done(`calls to ${answer.circuit.origin} are refused until ${until} UTC`));
    });
}

const overrideCommand = (command: Command, name: string, description: string): Command =>
  command
    .command(name)
    .description(description)
    .argument('<provider>', 'its slug')
    .option('--origin <origin>', 'where the organization has accounts at several origins of the provider');
