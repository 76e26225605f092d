/** `acg events`: lists events, newest last; `-f` follows new ones. `acg events types` lists what can happen. */
import type { Command } from 'commander';
import type { QueryOf } from '../../api/call-api-operation.js';
import { findAgentId } from '../../api/find-agent.js';
import { followRows, PAGE_ROWS_MAX } from '../../api/follow-rows.js';
import { omitUndefined } from '../../api/omit-undefined.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import {
  addPageOptions,
  type PageOptions,
  printRemainingRows,
  toPageQuery,
} from '../../options/page-options-and-value-parsers.js';
import { escapeControlCharacters } from '../../terminal/escape-control-characters.js';
import { formatSecond } from '../../terminal/format-numbers-and-times.js';

type EventName = QueryOf<'GET /v1/events'>['event'];

interface EventOptions extends PageOptions {
  readonly follow?: true;
  readonly event?: string;
  readonly agent?: string;
  readonly start?: string;
  readonly end?: string;
}

export function registerEventCommand(command: Command, { begin }: ProgramInterface): void {
  addPageOptions(command)
    .option('-f, --follow', 'print new events as they occur; with --json one object a line')
    .option('--event <name>', 'only these, e.g. usage.threshold')
    .option('--agent <agent>', 'only events of this agent')
    .option('--start <day>', 'first day, YYYY-MM-DD, UTC')
    .option('--end <day>', 'last day')
    .action(async (options: EventOptions) => {
      const run = begin();
      const client = await run.getClient();
      const { agent, start, end } = options;
      const agentId = agent === undefined ? undefined : await findAgentId(run, agent);
      // The API validates the name and lists the valid ones.
      const filters = omitUndefined({ event: options.event as EventName, agentId, start, end });
      if (options.follow === true) {
        const params = { query: { ...filters, limit: PAGE_ROWS_MAX } };
        await followRows(run, {
          fetchNewest: async () => (await client.get('/v1/events', { params })).events,
          line: formatEventLine,
          skipExisting: true,
        });
      }
      const answer = await client.get('/v1/events', { params: { query: { ...filters, ...toPageQuery(options) } } });
      run.printResult(answer, () => {
        for (const event of answer.events.toReversed()) run.printLine(escapeControlCharacters(formatEventLine(event)));
        run.printNoneOnTerminal(answer.events.length);
      });
      printRemainingRows(run, answer.events.length, answer);
    });
  command
    .command('types')
    .description('list the types of events')
    .action(async () => {
      const run = begin();
      const answer = await (await run.getClient()).get('/v1/events/types');
      run.printResult(answer, () =>
        run.printTable(
          [
            { title: 'EVENT', cell: ({ event }) => event },
            { title: 'SEVERITY', cell: ({ severity }) => severity },
            { title: 'DESCRIPTION', cell: ({ description }) => description },
          ],
          answer.types,
        ),
      );
    });
}

interface Event {
  readonly event: string;
  readonly occurredAt: string;
  readonly data: object;
}

/** `2026-11-22 16:51:54Z usage.threshold agentName=Support bot percent=80` */
const formatEventLine = ({ event, occurredAt, data }: Event): string =>
  [
    formatSecond(occurredAt),
    event,
    ...Object.entries(data)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`),
  ].join(' ');
