/** `acg webhooks deliveries`: lists, shows, retries and replays deliveries. */
import { type Command, InvalidArgumentError } from 'commander';
import { omitUndefined } from '../../api/omit-undefined.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { choiceField, mapField, parsedField, textField } from '../../options/field.js';
import { parseList } from '../../options/page-options-and-value-parsers.js';
import { parseDuration } from '../../options/parse-duration.js';
import { usage } from '../../terminal/cli-error.js';
import { toJsonWithoutControlCharacters } from '../../terminal/escape-control-characters.js';
import { formatCount, formatMinute } from '../../terminal/format-numbers-and-times.js';
import { idTarget } from '../descriptors/operation-target-from-arguments.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';
import { type EventName, WEBHOOK } from './find-webhook-by-url-or-id.js';

/** Of the response's first KiB, which `--json` prints whole. */
const BODY_CHARS_SHOWN = 120;
const DELIVERY = idTarget('<delivery>', 'id of the delivery');

export const registerWebhookDeliveryCommands = commandGroup(
  listCommand({
    name: 'deliveries',
    description: 'list the deliveries of an endpoint',
    operation: 'GET /v1/webhooks/{endpointId}/deliveries',
    rows: 'deliveries',
    target: WEBHOOK,
    filters: {
      status: choiceField('--status <status>', 'only those', ['pending', 'success', 'failed']),
      event: mapField(textField('--event <name>', 'only deliveries of this event'), (name) => name as EventName),
      start: parsedField('--start <instant>', 'made from then on, e.g. 2026-11-22T08:00Z', parseInstant),
      end: parsedField('--end <instant>', 'and before then', parseInstant),
    },
    columns: [
      { title: 'AT (UTC)', cell: ({ createdAt }) => formatMinute(createdAt) },
      { title: 'EVENT', cell: ({ event }) => event },
      { title: 'STATUS', cell: ({ status }) => status },
      { title: 'RESPONSE', cell: ({ statusCode, error }) => statusCode ?? error ?? '–' },
      { title: 'ATTEMPTS', cell: ({ attempts }) => String(attempts), alignRight: true },
      { title: 'ID', cell: ({ id }) => id, toCopy: true },
    ],
  }),
  operationCommand({
    name: 'delivery',
    description: 'show a delivery with its payload',
    operation: 'GET /v1/webhooks/deliveries/{deliveryId}',
    target: DELIVERY,
    print(run, { delivery: { payload, attemptLog, ...fields } }) {
      run.printRecord(fields);
      run.printTable(
        [
          { title: 'ATTEMPT (UTC)', cell: ({ at }) => formatMinute(at) },
          { title: 'RESPONSE', cell: ({ statusCode, error }) => statusCode ?? error ?? '–' },
          { title: 'MS', cell: ({ durationMs }) => String(durationMs), alignRight: true },
          { title: 'BODY', cell: ({ responseBody }) => responseBody?.slice(0, BODY_CHARS_SHOWN) ?? '–' },
        ],
        attemptLog,
      );
      run.printLine(toJsonWithoutControlCharacters(payload, 2));
    },
  }),
  operationCommand({
    name: 'retry',
    description: 'retry a failed delivery',
    operation: 'POST /v1/webhooks/deliveries/{deliveryId}/retry',
    target: DELIVERY,
    print: (run, { delivery }) => run.printSuccess(`${delivery.event} is ${delivery.status}`),
  }),
  registerReplayCommand,
);

interface ReplayOptions {
  readonly since?: string;
  readonly start?: string;
  readonly end?: string;
  readonly status?: readonly ('failed' | 'success')[];
  readonly event?: EventName;
}

function registerReplayCommand(group: Command, { begin }: ProgramInterface): void {
  group
    .command('replay')
    .description('replay deliveries of a time range, at most 1000 per call')
    .argument(...WEBHOOK.argument!)
    .option('--since <span>', 'made in the last …, e.g. 6h')
    .option('--start <instant>', 'made from then on, e.g. 2026-11-22T08:00Z', parseInstant)
    .option('--end <instant>', 'and before then; now, if left out', parseInstant)
    .option('--status <status>', 'failed, success or both; failed, if left out', parseList)
    .option('--event <name>', 'only deliveries of this event')
    .action(async (text: string, { since, start, end, status, event }: ReplayOptions) => {
      const run = begin();
      if ((since === undefined) === (start === undefined)) throw usage('give the beginning: either --since or --start');
      const nowMs = Date.now();
      const from = start ?? new Date(nowMs - parseDuration(since!, '--since')).toISOString();
      const client = await run.getClient();
      const { id } = await WEBHOOK.find(run, text, {});
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
