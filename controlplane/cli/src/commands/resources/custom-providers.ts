/** `acg custom-providers`: manages the organization's custom providers. */

import { iterateAllRows } from '@acg/client/auto-paging';
import type { Client } from '@acg/client/management-api-client';
import { type Command, Option } from 'commander';
import { collectRows, isUuid, type PageQuery } from '../../api/find-by-name.js';
import { omitUndefined } from '../../api/omit-undefined.js';
import type { CommandContext } from '../../invocation/command-context.js';
import {
  addPageOptions,
  appendValue,
  type PageOptions,
  printRemainingRows,
  toPageQuery,
} from '../../options/parse-options.js';
import { CliError, EXIT_CODES } from '../../terminal/cli-error.js';
import { requireConfirmation } from '../../terminal/prompt.js';

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
const PROVIDER_ARGUMENT = ['<provider>', 'slug or id'] as const;

const addProviderOptions = (command: Command): Command =>
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
    .option(
      '--sensitive-path <pattern>',
      'a call that is rejected unless the account allows it; repeatable',
      appendValue,
    );

const toProviderFields = (options: ProviderOptions) =>
  omitUndefined({
    displayName: options.name,
    baseUrl: options.baseUrl,
    authType: options.auth,
    authName: options.authName,
    authPrefix: options.authPrefix,
    usageFormat: options.usageFormat === 'none' ? null : options.usageFormat,
    sensitivePaths: options.sensitivePath === undefined ? undefined : [...options.sensitivePath],
  });

export function registerCustomProviderCommands(group: Command, { begin }: CommandContext): void {
  addPageOptions(group.command('ls').description('list custom and built-in providers')).action(
    async (options: PageOptions) => {
      const run = begin();
      const answer = await (await run.getClient()).get('/v1/custom-providers', {
        params: { query: toPageQuery(options) },
      });
      run.printResult(answer, () =>
        run.printTable(
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
      printRemainingRows(run, answer.providers.length, answer);
    },
  );
  addProviderOptions(
    group.command('add').description('add a custom provider').argument('<slug>', 'its part of the path, e.g. groq'),
  ).action(async (slug: string, options: ProviderOptions) => {
    const run = begin();
    const { name = slug, baseUrl = '', auth = 'bearer' } = options;
    const body = { ...toProviderFields(options), slug, displayName: name, baseUrl, authType: auth };
    const answer = await (await run.getClient()).post('/v1/custom-providers', { body });
    run.printResult(answer, () => run.printSuccess(`${answer.provider.slug}  ${answer.provider.id}`));
    run.printNote(`its key: acg accounts add ${answer.provider.slug} --agent …`);
  });
  addProviderOptions(
    group
      .command('set')
      .description('change a custom provider')
      .argument(...PROVIDER_ARGUMENT),
  ).action(async (text: string, options: ProviderOptions) => {
    const run = begin();
    const client = await run.getClient();
    const id = await findCustomProviderId(client, text);
    const answer = await client.put('/v1/custom-providers/{id}', {
      params: { path: { id } },
      body: toProviderFields(options),
    });
    run.printResult(answer, () => run.printSuccess(`${answer.provider.slug}`));
  });
  group
    .command('rm')
    .description('delete a custom provider')
    .argument(...PROVIDER_ARGUMENT)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.getClient();
      const id = await findCustomProviderId(client, text);
      await requireConfirmation(run, `Delete the provider ${text} at ${run.settings.url}?`);
      const answer = await client.delete('/v1/custom-providers/{id}', { params: { path: { id } } });
      run.printResult(answer, () => run.printSuccess(`${text} is deleted`));
    });
}

async function findCustomProviderId(client: Client, text: string): Promise<string> {
  if (isUuid(text)) return text;
  const load = (page: PageQuery) => client.get('/v1/custom-providers', { params: { query: page } });
  const found = (await collectRows(iterateAllRows(load, (page) => page.providers))).find(({ slug }) => slug === text);
  if (typeof found?.id === 'string') return found.id;
  throw new CliError(EXIT_CODES.notFound, `custom provider not found: ${text}`, {
    status: 404,
    hint: 'acg custom-providers ls',
  });
}
