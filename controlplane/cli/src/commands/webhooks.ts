/** `acg webhooks`: where events are sent, and what became of them. */
import { type Command, Option } from 'commander';
import { type EventName, findEndpoint, listEndpoints } from '../api/endpoints.js';
import { given } from '../api/given.js';
import { confirmed } from '../terminal/ask.js';
import { minute } from '../terminal/format.js';
import { parseDuration } from './duration.js';
import { list, noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';
import { deliveryCommands } from './webhook-deliveries.js';

interface EndpointOptions {
  readonly events?: readonly string[];
  readonly target?: string;
  readonly status?: 'active' | 'paused';
}
const NAMED = ['<webhook>', 'URL or id'] as const;

export function webhookCommands(group: Command, tree: Tree): void {
  endpointCommands(group, tree);
  rotateCommand(group, tree);
  deliveryCommands(group, tree);
}

function endpointCommands(group: Command, { begin }: Tree): void {
  paged(group.command('ls').description('list them')).action(async (options: PageOptions) => {
    const run = begin();
    const answer = await listEndpoints(await run.client(), pageOf(options));
    run.show(answer, () =>
      run.table(
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
    noteRest(run, answer.endpoints.length, answer);
  });
  group
    .command('get')
    .description('show one')
    .argument(...NAMED)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.client();
      const id = await findEndpoint(client, text);
      const answer = await client.get('/v1/webhooks/{id}', { params: { path: { id } } });
      const { endpoint } = answer;
      run.show(answer, () =>
        run.facts({
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
    .description('send events there: the secret that signs them alone on stdout, once')
    .argument('<target>', 'its URL')
    .requiredOption('--events <events>', 'which, e.g. usage.threshold,agent.budget_exceeded', list)
    .action(async (target: string, { events = [] }: EndpointOptions) => {
      const run = begin();
      const body = { url: target, events: [...events] as EventName[] };
      const answer = await (await run.client()).post('/v1/webhooks', { body });
      run.show(answer, () => run.out(answer.endpoint.secret));
      run.note(`shown once; try it: acg webhooks test ${answer.endpoint.id}`);
    });
  group
    .command('set')
    .description('change one')
    .argument(...NAMED)
    .option('--target <url>', 'its URL')
    .option('--events <events>', 'which', list)
    .addOption(new Option('--status <status>', 'whether anything is sent').choices(['active', 'paused']))
    .action(async (text: string, { target, events, status }: EndpointOptions) => {
      const run = begin();
      const client = await run.client();
      const id = await findEndpoint(client, text);
      const body = given({
        url: target,
        events: events === undefined ? undefined : ([...events] as EventName[]),
        status,
      });
      const answer = await client.patch('/v1/webhooks/{id}', { params: { path: { id } }, body });
      run.show(answer, () => run.done(`${answer.endpoint.url}`));
    });
  group
    .command('rm')
    .description('delete one')
    .argument(...NAMED)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.client();
      const id = await findEndpoint(client, text);
      await confirmed(run, `Delete the webhook ${text} at ${run.settings.url}?`);
      const answer = await client.delete('/v1/webhooks/{id}', { params: { path: { id } } });
      run.show(answer, () => run.done(`${text} is deleted`));
    });
  group
    .command('test')
    .description('send a sample of an event that it is sent')
    .argument(...NAMED)
    .option('--event <name>', 'which; the first of its own, if left out')
    .action(async (text: string, { event }: { readonly event?: EventName }) => {
      const run = begin();
      const client = await run.client();
      const id = await findEndpoint(client, text);
      const answer = await client.post('/v1/webhooks/{id}/test', { params: { path: { id } }, body: given({ event }) });
      run.show(answer, () =>
        run.done(`${answer.delivery.event} is on its way: acg webhooks delivery ${answer.delivery.id}`),
      );
    });
}

function rotateCommand(group: Command, { begin }: Tree): void {
  group
    .command('rotate')
    .description('another secret: alone on stdout, once; the old one signs beside it for a while')
    .argument(...NAMED)
    .option('--grace <span>', 'how long the old one signs on, at most 7d, or 0; 24h, if left out')
    .action(async (text: string, { grace }: { readonly grace?: string }) => {
      const run = begin();
      const client = await run.client();
      const id = await findEndpoint(client, text);
      const graceSeconds =
        grace === undefined ? undefined : grace === '0' ? 0 : parseDuration(grace, '--grace') / 1_000;
      const body = given({ graceSeconds });
      const answer = await client.post('/v1/webhooks/{id}/rotate', { params: { path: { id } }, body });
      const { secret, previousSecretUntil } = answer.endpoint;
      run.show(answer, () => run.out(secret));
      run.note(
        previousSecretUntil === null
          ? 'shown once; the old secret signs no more'
          : `shown once; the old secret signs beside it until ${minute(previousSecretUntil)} UTC`,
      );
    });
}
