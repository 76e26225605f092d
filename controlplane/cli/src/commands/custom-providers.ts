/** `acg custom-providers`: providers of the organization's own, beside the built-in ones. */
import type { Client } from '@acg/client/client';
import { everyRow } from '@acg/client/every-row';
import { type Command, Option } from 'commander';
import { given } from '../api/given.js';
import { collected, isId, type PageQuery } from '../api/lookup.js';
import { confirmed } from '../terminal/ask.js';
import { EXIT, Failure } from '../terminal/failure.js';
import { collect, noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';

type AuthType = 'bearer' | 'header' | 'query' | 'basic' | 'none';

interface ProviderOptions {
  readonly name?: string;
  readonly baseUrl?: string;
  readonly auth?: AuthType;
  readonly authName?: string;
  readonly authPrefix?: string;
  readonly usageFormat?: 'openai' | 'anthropic' | 'none';
  readonly sensitivePath?: readonly string[];
}
const NAMED = ['<provider>', 'slug or id'] as const;

const addFields = (command: Command): Command =>
  command
    .option('--name <name>', 'as people see it')
    .option('--base-url <url>', 'where calls go')
    .addOption(
      new Option('--auth <type>', 'how the key is sent').choices(['bearer', 'header', 'query', 'basic', 'none']),
    )
    .option('--auth-name <name>', 'of the header or the query parameter')
    .option('--auth-prefix <text>', 'before the key in the header, with its space')
    .addOption(
      new Option('--usage-format <format>', 'whose answers its answers are like, for counting tokens').choices([
        'openai',
        'anthropic',
        'none',
      ]),
    )
    .option('--sensitive-path <pattern>', 'a call that is refused unless the account allows it; repeatable', collect);

const fields = (options: ProviderOptions) =>
  given({
    displayName: options.name,
    baseUrl: options.baseUrl,
    authType: options.auth,
    authName: options.authName,
    authPrefix: options.authPrefix,
    usageFormat: options.usageFormat === 'none' ? null : options.usageFormat,
    sensitivePaths: options.sensitivePath === undefined ? undefined : [...options.sensitivePath],
  });

export function customProviderCommands(group: Command, { begin }: Tree): void {
  paged(group.command('ls').description('list them, the built-in ones too')).action(async (options: PageOptions) => {
    const run = begin();
    const answer = await (await run.client()).get('/v1/custom-providers', { params: { query: pageOf(options) } });
    run.show(answer, () =>
      run.table(
        [
          { title: 'PROVIDER', cell: ({ slug }) => slug },
          { title: 'NAME', cell: ({ displayName }) => displayName },
          { title: 'BASE URL', cell: ({ baseUrl }) => baseUrl ?? 'each account has its own' },
          {
            title: 'AUTH',
            cell: ({ authType, authName }) => (authName === null ? authType : `${authType} ${authName}`),
          },
          { title: 'BUILT IN', cell: ({ builtIn }) => (builtIn ? 'yes' : 'no') },
        ],
        answer.providers,
      ),
    );
    noteRest(run, answer.providers.length, answer);
  });
  addFields(group.command('add').description('add one').argument('<slug>', 'its part of the path, e.g. groq')).action(
    async (slug: string, options: ProviderOptions) => {
      const run = begin();
      const { name = slug, baseUrl = '', auth = 'bearer' } = options;
      const body = { ...fields(options), slug, displayName: name, baseUrl, authType: auth };
      const answer = await (await run.client()).post('/v1/custom-providers', { body });
      run.show(answer, () => run.done(`${answer.provider.slug}  ${answer.provider.id}`));
      run.note(`its key: acg accounts add ${answer.provider.slug} --agent …`);
    },
  );
  addFields(
    group
      .command('set')
      .description('change one')
      .argument(...NAMED),
  ).action(async (text: string, options: ProviderOptions) => {
    const run = begin();
    const client = await run.client();
    const id = await findProvider(client, text);
    const answer = await client.put('/v1/custom-providers/{id}', { params: { path: { id } }, body: fields(options) });
    run.show(answer, () => run.done(`${answer.provider.slug}`));
  });
  group
    .command('rm')
    .description('delete one')
    .argument(...NAMED)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.client();
      const id = await findProvider(client, text);
      await confirmed(run, `Delete the provider ${text} at ${run.settings.url}?`);
      const answer = await client.delete('/v1/custom-providers/{id}', { params: { path: { id } } });
      run.show(answer, () => run.done(`${text} is deleted`));
    });
}

async function findProvider(client: Client, text: string): Promise<string> {
  if (isId(text)) return text;
  const load = (page: PageQuery) => client.get('/v1/custom-providers', { params: { query: page } });
  const found = (await collected(everyRow(load, (page) => page.providers))).find(({ slug }) => slug === text);
  if (typeof found?.id === 'string') return found.id;
  throw new Failure(EXIT.notFound, `custom provider not found: ${text}`, {
    status: 404,
    hint: 'acg custom-providers ls',
  });
}
