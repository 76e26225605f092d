/** `acg webhooks deliveries`: lists, shows, retries and replays deliveries. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type EventName, findWebhookId } from '../../api/find-webhook.js';
import { omitUndefined } from '../../api/omit-undefined.js';
import type { CommandContext } from '../../invocation/command-context.js';
import { parseDuration } from '../../options/parse-duration.js';
import {
  addPageOptions,
  type PageOptions,
  parseList,
  printRemainingRows,
  toPageQuery,
} from '../../options/parse-options.js';
import { usage } from '../../terminal/cli-error.js';
import { formatCount, formatMinute } from '../../terminal/format.js';
import { toPrintableJson } from '../../terminal/printable.js';

const WEBHOOK_ARGUMENT = ['<webhook>', 'URL or id'] as const;

interface DeliveryOptions extends PageOptions {
  readonly status?: 'pending' | 'success' | 'failed';
  readonly event?: EventName;
  readonly start?: string;
  readonly end?: string;
}

export function registerWebhookDeliveryCommands(group: Command, tree: CommandContext): void {
  const { begin } = tree;
  addPageOptions(
    group
      .command('deliveries')
      .description('list the deliveries of an endpoint')
      .argument(...WEBHOOK_ARGUMENT),
  )
    .addOption(new Option('--status <status>', 'only those').choices(['pending', 'success', 'failed']))
    .option('--event <name>', 'only these')
    .option('--start <instant>', 'made from then on, e.g. 2026-11-22T08:00Z', parseInstant)
    .option('--end <instant>', 'and before then', parseInstant)
    .action(async (text: string, options: DeliveryOptions) => {
      const run = begin();
      const client = await run.getClient();
      const endpointId = await findWebhookId(client, text);
      const { status, event, start, end } = options;
      const query = { ...omitUndefined({ status, event, start, end }), ...toPageQuery(options) };
      const params = { path: { endpointId }, query };
      const answer = await client.get('/v1/webhooks/{endpointId}/deliveries', { params });
      run.printResult(answer, () =>
        run.printTable(
          [
            { title: 'AT (UTC)', cell: ({ createdAt }) => formatMinute(createdAt) },
            { title: 'EVENT', cell: ({ event }) => event },
            { title: 'STATUS', cell: ({ status }) => status },
            { title: 'RESPONSE', cell: ({ statusCode, error }) => statusCode ?? error ?? '–' },
            { title: 'ATTEMPTS', cell: ({ attempts }) => String(attempts), alignRight: true },
            { title: 'ID', cell: ({ id }) => id },
          ],
          answer.deliveries,
        ),
      );
      printRemainingRows(run, answer.deliveries.length, answer);
    });
  group
    .command('delivery')
    .description('show a delivery with its payload')
    .argument('<delivery>', 'its id')
    .action(async (deliveryId: string) => {
      const run = begin();
      const params = { path: { deliveryId } };
      const answer = await (await run.getClient()).get('/v1/webhooks/deliveries/{deliveryId}', { params });
      run.printResult(answer, () => run.printLine(toPrintableJson(answer.delivery, 2)));
    });
  group
    .command('retry')
    .description('retry a failed delivery')
    .argument('<delivery>', 'its id')
    .action(async (deliveryId: string) => {
      const run = begin();
      const params = { path: { deliveryId } };
      const answer = await (await run.getClient()).post('/v1/webhooks/deliveries/{deliveryId}/retry', { params });
      run.printResult(answer, () => run.printSuccess(`${answer.delivery.event} is ${answer.delivery.status}`));
    });
  registerReplayCommand(group, tree);
}

interface ReplayOptions {
  readonly since?: string;
  readonly start?: string;
  readonly end?: string;
  readonly status?: readonly ('failed' | 'success')[];
  readonly event?: EventName;
}

function registerReplayCommand(group: Command, { begin }: CommandContext): void {
  group
    .command('replay')
    .description('replay deliveries of a time range, at most 1000 per call')
    .argument(...WEBHOOK_ARGUMENT)
    .option('--since <span>', 'made in the last …, e.g. 6h')
    .option('--start <instant>', 'made from then on, e.g. 2026-11-22T08:00Z', parseInstant)
    .option('--end <instant>', 'and before then; now, if left out', parseInstant)
    .option('--status <status>', 'failed, success or both; failed, if left out', parseList)
    .option('--event <name>', 'only these')
    .action(async (text: string, { since, start, end, status, event }: ReplayOptions) => {
      const run = begin();
      if ((since === undefined) === (start === undefined)) throw usage('from when on? --since or --start');
      const nowMs = Date.now();
      const from = start ?? new Date(nowMs - parseDuration(since!, '--since')).toISOString();
      const client = await run.getClient();
      const id = await findWebhookId(client, text);
      const range = { start: from, end: end ?? new Date(nowMs).toISOString() };
      const body = { ...range, ...omitUndefined({ status: status === undefined ? undefined : [...status], event }) };
      const answer = await client.post('/v1/webhooks/{id}/replay', { params: { path: { id } }, body });
      const { replayed, remaining, until } = answer;
      run.printResult(answer, () => run.printSuccess(`${formatCount(replayed)} are on their way`));
      if (remaining > 0) run.printNote(`${formatCount(remaining)} are left: --start ${until} --end ${range.end}`);
    });
}

function parseInstant(text: string): string {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new InvalidArgumentError('It must be an instant, e.g. 2026-11-22T08:00Z.');
  return new Date(ms).toISOString();
}
