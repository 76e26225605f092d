/** `acg webhooks deliveries` and what is done with them. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type EventName, findEndpoint } from '../api/endpoints.js';
import { given } from '../api/given.js';
import { usage } from '../terminal/failure.js';
import { count, minute } from '../terminal/format.js';
import { printableJson } from '../terminal/printable.js';
import { parseDuration } from './duration.js';
import { list, noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';

const NAMED = ['<webhook>', 'URL or id'] as const;

interface DeliveryOptions extends PageOptions {
  readonly status?: 'pending' | 'success' | 'failed';
  readonly event?: EventName;
  readonly start?: string;
  readonly end?: string;
}

export function deliveryCommands(group: Command, tree: Tree): void {
  const { begin } = tree;
  paged(
    group
      .command('deliveries')
      .description('what was sent to one')
      .argument(...NAMED),
  )
    .addOption(new Option('--status <status>', 'only those').choices(['pending', 'success', 'failed']))
    .option('--event <name>', 'only these')
    .option('--start <instant>', 'made from then on, e.g. 2026-11-22T08:00Z', instant)
    .option('--end <instant>', 'and before then', instant)
    .action(async (text: string, options: DeliveryOptions) => {
      const run = begin();
      const client = await run.client();
      const endpointId = await findEndpoint(client, text);
      const { status, event, start, end } = options;
      const query = { ...given({ status, event, start, end }), ...pageOf(options) };
      const params = { path: { endpointId }, query };
      const answer = await client.get('/v1/webhooks/{endpointId}/deliveries', { params });
      run.show(answer, () =>
        run.table(
          [
            { title: 'AT (UTC)', cell: ({ createdAt }) => minute(createdAt) },
            { title: 'EVENT', cell: ({ event }) => event },
            { title: 'STATUS', cell: ({ status }) => status },
            { title: 'ANSWER', cell: ({ statusCode, error }) => statusCode ?? error ?? '–' },
            { title: 'ATTEMPTS', cell: ({ attempts }) => String(attempts), right: true },
            { title: 'ID', cell: ({ id }) => id },
          ],
          answer.deliveries,
        ),
      );
      noteRest(run, answer.deliveries.length, answer);
    });
  group
    .command('delivery')
    .description('show one, with what was sent')
    .argument('<delivery>', 'its id')
    .action(async (deliveryId: string) => {
      const run = begin();
      const params = { path: { deliveryId } };
      const answer = await (await run.client()).get('/v1/webhooks/deliveries/{deliveryId}', { params });
      run.show(answer, () => run.out(printableJson(answer.delivery, 2)));
    });
  group
    .command('retry')
    .description('send one again')
    .argument('<delivery>', 'its id')
    .action(async (deliveryId: string) => {
      const run = begin();
      const params = { path: { deliveryId } };
      const answer = await (await run.client()).post('/v1/webhooks/deliveries/{deliveryId}/retry', { params });
      run.show(answer, () => run.done(`${answer.delivery.event} is ${answer.delivery.status}`));
    });
  replayCommand(group, tree);
}

interface ReplayOptions {
  readonly since?: string;
  readonly start?: string;
  readonly end?: string;
  readonly status?: readonly ('failed' | 'success')[];
  readonly event?: EventName;
}

function replayCommand(group: Command, { begin }: Tree): void {
  group
    .command('replay')
    .description('send those of a span of time again, at most 1000 in a call')
    .argument(...NAMED)
    .option('--since <span>', 'made in the last …, e.g. 6h')
    .option('--start <instant>', 'made from then on, e.g. 2026-11-22T08:00Z', instant)
    .option('--end <instant>', 'and before then; now, if left out', instant)
    .option('--status <status>', 'failed, success or both; failed, if left out', list)
    .option('--event <name>', 'only these')
    .action(async (text: string, { since, start, end, status, event }: ReplayOptions) => {
      const run = begin();
      if ((since === undefined) === (start === undefined)) throw usage('from when on? --since or --start');
      const nowMs = Date.now();
      const from = start ?? new Date(nowMs - parseDuration(since!, '--since')).toISOString();
      const client = await run.client();
      const id = await findEndpoint(client, text);
      const range = { start: from, end: end ?? new Date(nowMs).toISOString() };
      const body = { ...range, ...given({ status: status === undefined ? undefined : [...status], event }) };
      const answer = await client.post('/v1/webhooks/{id}/replay', { params: { path: { id } }, body });
      const { replayed, remaining, until } = answer;
      run.show(answer, () => run.done(`${count(replayed)} are on their way`));
      if (remaining > 0) run.note(`${count(remaining)} are left: --start ${until} --end ${range.end}`);
    });
}

function instant(text: string): string {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new InvalidArgumentError('It must be an instant, e.g. 2026-11-22T08:00Z.');
  return new Date(ms).toISOString();
}
