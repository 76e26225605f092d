/** `acg webhooks`: where events are sent, and what became of them. */
import type { Client } from '@acg/client/client';
import { everyRow } from '@acg/client/every-row';
import { type Command, Option } from 'commander';
import { collected, isId } from '../api/lookup.js';
import { EXIT, Failure } from '../failure.js';
import { given } from '../given.js';
import { confirmed } from '../terminal/ask.js';
import { minute } from '../terminal/format.js';
import { printableJson } from '../terminal/printable.js';
import type { Tree } from '../tree.js';
import { list, noteRest, type PageOptions, paged, pageOf } from './options.js';

type Endpoint = Awaited<ReturnType<typeof listEndpoints>>['endpoints'][number];
type Event = Endpoint['events'][number];
interface EndpointOptions {
  readonly events?: readonly string[];
  readonly target?: string;
  readonly status?: 'active' | 'paused';
}
const NAMED = ['<webhook>', 'URL or id'] as const;
const listEndpoints = (client: Client, query: { limit: number; offset: number }) =>
  client.get('/v1/webhooks', { params: { query } });

export function webhookCommands(group: Command, tree: Tree): void {
  endpointCommands(group, tree);
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
    .command('add')
    .description('send events there: the secret that signs them alone on stdout, once')
    .argument('<target>', 'its URL')
    .requiredOption('--events <events>', 'which, e.g. usage.threshold,agent.budget_exceeded', list)
    .action(async (target: string, { events = [] }: EndpointOptions) => {
      const run = begin();
      const body = { url: target, events: [...events] as Event[] };
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
      const body = given({ url: target, events: events === undefined ? undefined : ([...events] as Event[]), status });
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
    .description('send an event made for it')
    .argument(...NAMED)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.client();
      const id = await findEndpoint(client, text);
      const answer = await client.post('/v1/webhooks/{id}/test', { params: { path: { id } }, body: {} });
      run.show(answer, () =>
        run.done(`${answer.delivery.event} is on its way: acg webhooks delivery ${answer.delivery.id}`),
      );
    });
}

interface DeliveryOptions extends PageOptions {
  readonly status?: 'pending' | 'success' | 'failed';
}

function deliveryCommands(group: Command, { begin }: Tree): void {
  paged(
    group
      .command('deliveries')
      .description('what was sent to one')
      .argument(...NAMED),
  )
    .addOption(new Option('--status <status>', 'only those').choices(['pending', 'success', 'failed']))
    .action(async (text: string, options: DeliveryOptions) => {
      const run = begin();
      const client = await run.client();
      const endpointId = await findEndpoint(client, text);
      const query = { ...given({ status: options.status }), ...pageOf(options) };
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
}

async function findEndpoint(client: Client, text: string): Promise<string> {
  if (isId(text)) return text;
  const endpoints = await collected(
    everyRow(
      (query) => listEndpoints(client, query),
      (page) => page.endpoints,
    ),
  );
  const found = endpoints.find(({ url }) => url === text);
  if (found !== undefined) return found.id;
  throw new Failure(EXIT.notFound, `webhook not found: ${text}`, { status: 404, hint: 'acg webhooks ls' });
}
