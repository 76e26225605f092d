/** `acg webhooks`: manages webhook endpoints. */
import { type Command, Option } from 'commander';
import { type EventName, findWebhookId, listWebhooks } from '../../api/find-webhook.js';
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
import { formatMinute } from '../../terminal/format.js';
import { requireConfirmation } from '../../terminal/prompt.js';
import { registerWebhookDeliveryCommands } from './webhook-deliveries.js';

interface EndpointOptions {
  readonly events?: readonly string[];
  readonly target?: string;
  readonly status?: 'active' | 'paused';
}
const WEBHOOK_ARGUMENT = ['<webhook>', 'URL or id'] as const;

export function registerWebhookCommands(group: Command, tree: CommandContext): void {
  registerEndpointCommands(group, tree);
  registerRotateCommand(group, tree);
  registerWebhookDeliveryCommands(group, tree);
}

function registerEndpointCommands(group: Command, { begin }: CommandContext): void {
  addPageOptions(group.command('ls').description('list webhook endpoints')).action(async (options: PageOptions) => {
    const run = begin();
    const answer = await listWebhooks(await run.getClient(), toPageQuery(options));
    run.printResult(answer, () =>
      run.printTable(
        [
          { title: 'URL', cell: ({ url }) => url },
          { title: 'EVENTS', cell: ({ events }) => events.join(' ') },
          {
            title: 'STATUS',
            cell: (row) => (row.pausedReason === null ? row.status : `${row.status}: ${row.pausedReason}`),
          },
          { title: 'ID', cell: ({ id }) => id },
        ],
        answer.endpoints,
      ),
    );
    printRemainingRows(run, answer.endpoints.length, answer);
  });
  group
    .command('get')
    .description('show a webhook endpoint')
    .argument(...WEBHOOK_ARGUMENT)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.getClient();
      const id = await findWebhookId(client, text);
      const answer = await client.get('/v1/webhooks/{id}', { params: { path: { id } } });
      const { endpoint } = answer;
      run.printResult(answer, () =>
        run.printFields({
          url: endpoint.url,
          id: endpoint.id,
          events: endpoint.events.join(' '),
          status: endpoint.pausedReason === null ? endpoint.status : `${endpoint.status}: ${endpoint.pausedReason}`,
          'old secret signs until': endpoint.previousSecretUntil,
          created: endpoint.createdAt,
        }),
      );
    });
  group
    .command('add')
    .description('add a webhook endpoint; prints only its signing secret, once, on stdout')
    .argument('<target>', 'its URL')
    .requiredOption('--events <events>', 'which, e.g. usage.threshold,agent.budget_exceeded', parseList)
    .action(async (target: string, { events = [] }: EndpointOptions) => {
      const run = begin();
      const body = { url: target, events: [...events] as EventName[] };
      const answer = await (await run.getClient()).post('/v1/webhooks', { body });
      run.printResult(answer, () => run.printLine(answer.endpoint.secret));
      run.printNote(`shown once; try it: acg webhooks test ${answer.endpoint.id}`);
    });
  group
    .command('set')
    .description('change a webhook endpoint')
    .argument(...WEBHOOK_ARGUMENT)
    .option('--target <url>', 'its URL')
    .option('--events <events>', 'which', parseList)
    .addOption(new Option('--status <status>', 'whether anything is sent').choices(['active', 'paused']))
    .action(async (text: string, { target, events, status }: EndpointOptions) => {
      const run = begin();
      const client = await run.getClient();
      const id = await findWebhookId(client, text);
      const body = omitUndefined({
        url: target,
        events: events === undefined ? undefined : ([...events] as EventName[]),
        status,
      });
      const answer = await client.patch('/v1/webhooks/{id}', { params: { path: { id } }, body });
      run.printResult(answer, () => run.printSuccess(`${answer.endpoint.url}`));
    });
  group
    .command('rm')
    .description('delete a webhook endpoint')
    .argument(...WEBHOOK_ARGUMENT)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.getClient();
      const id = await findWebhookId(client, text);
      await requireConfirmation(run, `Delete the webhook ${text} at ${run.settings.url}?`);
      const answer = await client.delete('/v1/webhooks/{id}', { params: { path: { id } } });
      run.printResult(answer, () => run.printSuccess(`${text} is deleted`));
    });
  group
    .command('test')
    .description('send a sample event')
    .argument(...WEBHOOK_ARGUMENT)
    .option('--event <name>', 'which; the first of its own, if left out')
    .action(async (text: string, { event }: { readonly event?: EventName }) => {
      const run = begin();
      const client = await run.getClient();
      const id = await findWebhookId(client, text);
      const answer = await client.post('/v1/webhooks/{id}/test', {
        params: { path: { id } },
        body: omitUndefined({ event }),
      });
      run.printResult(answer, () =>
        run.printSuccess(`${answer.delivery.event} is on its way: acg webhooks delivery ${answer.delivery.id}`),
      );
    });
}

function registerRotateCommand(group: Command, { begin }: CommandContext): void {
  group
    .command('rotate')
    .description(
      'rotate the signing secret; prints only the new secret, once, on stdout. Both secrets sign during the overlap',
    )
    .argument(...WEBHOOK_ARGUMENT)
    .option('--grace <span>', 'how long the old one signs on, at most 7d, or 0; 24h, if left out')
    .action(async (text: string, { grace }: { readonly grace?: string }) => {
      const run = begin();
      const client = await run.getClient();
      const id = await findWebhookId(client, text);
      const graceSeconds =
        grace === undefined ? undefined : grace === '0' ? 0 : parseDuration(grace, '--grace') / 1_000;
      const body = omitUndefined({ graceSeconds });
      const answer = await client.post('/v1/webhooks/{id}/rotate', { params: { path: { id } }, body });
      const { secret, previousSecretUntil } = answer.endpoint;
      run.printResult(answer, () => run.printLine(secret));
      run.printNote(
        previousSecretUntil === null
          ? 'shown once; the old secret signs no more'
          : `shown once; both secrets sign until ${formatMinute(previousSecretUntil)} UTC`,
      );
    });
}
