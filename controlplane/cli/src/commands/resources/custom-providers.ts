/** `acg custom-providers`: manages the organization's custom providers. */

import { readFile } from 'node:fs/promises';
import { type BodyOf, fetchAllRows } from '../../api/call-api-operation.js';
import { isUuid, notFoundError } from '../../api/find-by-name.js';
import type { Invocation } from '../../invocation/invocation.js';
import { choiceField, type Fields, mapField, parsedField, textField } from '../../options/field.js';
import { appendValue } from '../../options/page-options-and-value-parsers.js';
import { usage } from '../../terminal/cli-error.js';
import type { Target } from '../descriptors/operation-target-from-arguments.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

const PROVIDER: Target = { argument: ['<provider>', 'slug or id'], find: findCustomProvider };
const USAGE_FORMATS = ['openai', 'anthropic', 'none'] as const;

const PROVIDER_FIELDS = {
  displayName: textField('--name <name>', 'name on screens'),
  baseUrl: textField('--base-url <url>', 'address that receives the calls'),
  authType: choiceField('--auth <type>', 'how the key is sent', ['bearer', 'header', 'query', 'basic', 'none']),
  authName: textField('--auth-name <name>', 'of the header or the query parameter'),
  authPrefix: textField('--auth-prefix <text>', 'text before the key in the header, with its space'),
  usageFormat: mapField(
    choiceField('--usage-format <format>', 'format of the responses, for counting tokens', USAGE_FORMATS),
    (format) => (format === 'none' ? null : format),
  ),
  sensitivePaths: parsedField(
    '--sensitive-path <pattern>',
    'a call that is rejected unless the account allows it; repeatable',
    appendValue,
  ),
  definition: mapField(
    textField('--definition <file>', 'the provider in the format of provider files, instead of the other options'),
    readDefinition,
  ),
} satisfies Fields<BodyOf<'PUT /v1/custom-providers/{id}'>>;

/** Leaves out the members that only files of the operator have, so that such a file can be sent. */
const OPERATOR_MEMBERS = ['$schema', 'slug', 'name', 'category', 'docs', 'prices', 'sdk', 'tests', 'reviewed'];

/** Presets without the scopes of credentials and their source. */
const withoutTexts = (presets: unknown): unknown =>
  Array.isArray(presets) ? presets.map(({ name, calls }: Record<string, unknown>) => ({ name, calls })) : presets;

async function readDefinition(file: string): Promise<Record<string, unknown>> {
  let definition: unknown;
  try {
    definition = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw usage(`${file}: ${(error as Error).message}`);
  }
  if (typeof definition !== 'object' || definition === null) throw usage(`${file} must hold a JSON object`);
  const entries = Object.entries(definition).filter(([name]) => !OPERATOR_MEMBERS.includes(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, name === 'presets' ? withoutTexts(value) : value]));
}

export const registerCustomProviderCommands = commandGroup(
  listCommand({
    description: 'list custom and built-in providers',
    operation: 'GET /v1/custom-providers',
    rows: 'providers',
    columns: [
      { title: 'PROVIDER', cell: ({ slug }) => slug },
      { title: 'NAME', cell: ({ displayName }) => displayName },
      { title: 'BASE URL', cell: ({ baseUrl }) => baseUrl ?? 'each account has its own' },
      { title: 'AUTH', cell: ({ authType, authName }) => (authName === null ? authType : `${authType} ${authName}`) },
      { title: 'BUILT IN', cell: ({ builtIn }) => (builtIn ? 'yes' : 'no') },
    ],
  }),
  operationCommand({
    name: 'add',
    description: 'add a custom provider',
    operation: 'POST /v1/custom-providers',
    fields: { slug: textField('<slug>', 'its part of the path, e.g. groq'), ...PROVIDER_FIELDS },
    body: (_run, { text, options }) => ({
      displayName: text,
      ...(options.definition === undefined ? { baseUrl: '', authType: 'bearer' } : {}),
    }),
    print: (run, { provider }) => run.printSuccess(`${provider.slug}  ${provider.id}`),
    after: (run, { provider }) => run.printNote(`its key: acg accounts add ${provider.slug} --agent …`),
  }),
  operationCommand({
    name: 'set',
    description: 'change a custom provider',
    operation: 'PUT /v1/custom-providers/{id}',
    target: PROVIDER,
    fields: { slug: textField('--slug <slug>', 'another part of the path'), ...PROVIDER_FIELDS },
    print: (run, { provider }) => run.printSuccess(provider.slug),
  }),
  operationCommand({
    name: 'rm',
    description: 'delete a custom provider',
    operation: 'DELETE /v1/custom-providers/{id}',
    target: PROVIDER,
    confirm: ({ text, at }) => `Delete the provider ${text} ${at}?`,
    print: (run, _response, { text }) => run.printSuccess(`${text} is deleted`),
  }),
);

async function findCustomProvider(run: Invocation, text: string): Promise<{ readonly id: string }> {
  if (isUuid(text)) return { id: text };
  const providers = await fetchAllRows(await run.getClient(), 'GET /v1/custom-providers', 'providers');
  const id = providers.find(({ slug }) => slug === text)?.id;
  if (typeof id !== 'string') throw notFoundError('custom provider', text, 'acg custom-providers ls');
  return { id };
}
