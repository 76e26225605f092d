/** `acg circuits`: the origins that the organization's agents call, and which of them are refused because they fail. */
import { type Command, Option } from 'commander';
import { given } from '../api/given.js';
import { ago, minute } from '../terminal/format.js';
import { noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';

const STATES = ['closed', 'open', 'half_open'] as const;
type State = (typeof STATES)[number];
interface CircuitOptions extends PageOptions {
  readonly state?: State;
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
            { title: 'SINCE', cell: ({ since }) => ago(since, Date.now()) },
            { title: 'NEXT PROBE (UTC)', cell: ({ nextProbeAt }) => minute(nextProbeAt) },
          ],
          answer.circuits,
        ),
      );
      noteRest(run, answer.circuits.length, answer);
    });
}
