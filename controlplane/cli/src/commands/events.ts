/** `acg events`: what webhooks are told, newest last; `-f` goes on with those that come. */
import type { Command } from 'commander';
import { findAgentId } from '../api/agents.js';
import type { EventName } from '../api/endpoints.js';
import { follow, PAGE } from '../api/follow.js';
import { given } from '../api/given.js';
import { printable } from '../terminal/printable.js';
import { noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';

interface EventOptions extends PageOptions {
  readonly follow?: true;
  readonly event?: string;
  readonly agent?: string;
  readonly start?: string;
  readonly end?: string;
}

export function eventCommand(command: Command, { begin }: Tree): void {
  paged(command)
    .option('-f, --follow', 'go on with those that come; with --json one object a line')
    .option('--event <name>', 'only these, e.g. usage.threshold')
    .option('--agent <agent>', 'only of this one')
    .option('--start <day>', 'first day, YYYY-MM-DD, UTC')
    .option('--end <day>', 'last day')
    .action(async (options: EventOptions) => {
      const run = begin();
      const client = await run.client();
      const { agent, start, end } = options;
      const agentId = agent === undefined ? undefined : await findAgentId(run, agent);
      // The API knows which there are, and says so.
      const filters = given({ event: options.event as EventName | undefined, agentId, start, end });
      if (options.follow === true) {
        const params = { query: { ...filters, limit: PAGE } };
        await follow(run, {
          load: async () => (await client.get('/v1/events', { params })).events,
          line,
          onlyNew: true,
        });
      }
      const answer = await client.get('/v1/events', { params: { query: { ...filters, ...pageOf(options) } } });
      run.show(answer, () => {
        for (const event of answer.events.toReversed()) run.out(printable(line(event)));
      });
      noteRest(run, answer.events.length, answer);
    });
}

interface Event {
  readonly event: string;
  readonly occurredAt: string;
  readonly data: object;
}

/** `2026-11-22 16:51:54 usage.threshold agentName=Support bot percent=80` */
const line = ({ event, occurredAt, data }: Event): string =>
  [
    occurredAt.slice(0, 19).replace('T', ' '),
    event,
    ...Object.entries(data)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`),
  ].join(' ');
