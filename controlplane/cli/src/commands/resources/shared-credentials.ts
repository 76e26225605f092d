/** `acg credentials`: manages provider credentials that many agents share and that are rotated in one place. */
import type { Command } from 'commander';
import { fetchAllRows, type RowOf } from '../../api/call-api-operation.js';
import { assertCredentialAccepted, formatCredentialTest } from '../../api/credential-test-result.js';
import { findAgent } from '../../api/find-agent.js';
import { isUuid, selectByName } from '../../api/find-by-name.js';
import type { Invocation } from '../../invocation/invocation.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { CREDENTIAL_OPTIONS, readOptionCredentials } from '../../options/credential-options.js';
import { choiceField, requiredField, textField } from '../../options/field.js';
import { onlyProjectIdField } from '../../options/lookup-fields.js';
import { formatCount, formatDay } from '../../terminal/format-numbers-and-times.js';
import type { Target } from '../descriptors/operation-target-from-arguments.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';
import { connectCommand, describeMinted } from './connect-in-browser.js';
import { formatRotation, ROTATE_FIELDS, ROTATION_ACTION } from './credential-rotation.js';

type SharedCredential = RowOf<'GET /v1/credentials', 'credentials'>;

const CREDENTIAL = {
  argument: ['<credential>', 'name or id'],
  async find(run, text) {
    const client = await run.getClient();
    if (isUuid(text)) return (await client.get('/v1/credentials/{id}', { params: { path: { id: text } } })).credential;
    const credentials = await fetchAllRows(client, 'GET /v1/credentials', 'credentials');
    return selectByName(credentials, text, 'credential', 'acg credentials ls');
  },
} as const satisfies Target<SharedCredential>;

export const registerCredentialCommands = commandGroup(
  listCommand({
    description: 'list shared credentials; the keys are never shown',
    operation: 'GET /v1/credentials',
    rows: 'credentials',
    inProject: true,
    filters: {
      providerSlug: textField('--provider <slug>', 'only those of one provider'),
      search: textField('--search <text>', 'part of the name'),
      status: choiceField('--status <status>', 'only those', ['active', 'needs_credentials']),
    },
    columns: [
      { title: 'CREDENTIAL', cell: ({ name }) => name },
      { title: 'PROVIDER', cell: ({ providerSlug }) => providerSlug },
      { title: 'STATUS', cell: ({ status }) => status },
      { title: 'STATE', cell: ({ minted }) => minted?.state ?? 'stored' },
      { title: 'ACCOUNTS', cell: ({ accounts }) => formatCount(accounts), alignRight: true },
      { title: 'PROJECT', cell: ({ projectId }) => projectId ?? 'all' },
      { title: 'ROTATION', cell: ({ rotation }) => rotation?.state ?? '' },
      { title: 'ROTATED', cell: ({ rotatedAt }) => formatDay(rotatedAt) },
      { title: 'ID', cell: ({ id }) => id },
    ],
  }),
  operationCommand({
    name: 'add',
    description: 'store a key; prompts for it without showing it',
    operation: 'POST /v1/credentials',
    fields: {
      providerSlug: textField('<provider>', 'its slug, e.g. openai'),
      name: requiredField(textField('--name <name>', 'name of the shared credential')),
      projectId: onlyProjectIdField('only agents of this one may use it'),
    },
    options: CREDENTIAL_OPTIONS,
    body: async (run, { text, options }) => ({ credentials: await readOptionCredentials(run, text, options) }),
    print: (run, { credential }) => run.printSuccess(`${credential.name}  ${credential.id}`),
    after: (run, { credential }) =>
      run.printNote(`let agents use it: acg credentials attach ${credential.id} <agents…>`),
  }),
  registerAttachCommand,
  operationCommand({
    name: 'rotate',
    description: 'replace the key for all agents that use it',
    operation: 'POST /v1/credentials/{id}/rotate',
    target: CREDENTIAL,
    options: CREDENTIAL_OPTIONS,
    fields: ROTATE_FIELDS,
    body: async (run, { found, options }) => ({
      credentials: await readOptionCredentials(run, found.providerSlug, options),
    }),
    print: (run, { credential: { name, accounts, rotation } }) =>
      run.printSuccess(
        rotation === null
          ? `${name} has another key, for ${formatCount(accounts)} accounts`
          : formatRotation(name, rotation),
      ),
  }),
  operationCommand({
    name: 'rotation',
    description: 'cancel, roll back or end a rotation that --test-first began',
    operation: 'POST /v1/credentials/{id}/rotation',
    target: CREDENTIAL,
    fields: { action: ROTATION_ACTION },
    print: (run, { credential: { name, rotation } }) => run.printSuccess(formatRotation(name, rotation)),
  }),
  operationCommand({
    name: 'test',
    description: 'test its key with one call',
    operation: 'POST /v1/credentials/{id}/test',
    target: CREDENTIAL,
    print: (run, result, { found }) => run.printLine(formatCredentialTest(found.name, result)),
    after: (_run, result, { found }) => assertCredentialAccepted(found.name, result),
  }),
  operationCommand({
    name: 'show',
    description: 'show its state: kind, scope, expiry, what went wrong and what to do',
    operation: 'GET /v1/credentials/{id}',
    target: CREDENTIAL,
    print: (run, { credential }) =>
      run.printFields({
        credential: credential.name,
        provider: credential.providerSlug,
        status: credential.status,
        accounts: formatCount(credential.accounts),
        ...describeMinted(credential.minted),
      }),
  }),
  connectCommand({
    description: 'have a person connect it at the provider: opens the dashboard and waits for the result',
    target: CREDENTIAL,
    load: async (client, id) => (await client.get('/v1/credentials/{id}', { params: { path: { id } } })).credential,
    page: ({ id }) => `/providers?tab=shared&credential=${id}`,
    name: ({ name, providerSlug }) => `${name} at ${providerSlug}`,
  }),
  operationCommand({
    name: 'disconnect',
    description: 'forget what a person granted at the provider, and revoke it there',
    operation: 'POST /v1/credentials/{id}/disconnect',
    target: CREDENTIAL,
    confirm: ({ found, at }) => `Disconnect ${found.name} ${at}?`,
    print: (run, _response, { found }) => run.printSuccess(`${found.name} is disconnected`),
  }),
  operationCommand({
    name: 'rename',
    description: 'rename it',
    operation: 'PATCH /v1/credentials/{id}',
    target: CREDENTIAL,
    fields: { name: textField('<name>', 'the new name') },
    print: (run, { credential }) => run.printSuccess(credential.name),
  }),
  operationCommand({
    name: 'rm',
    description: 'delete an unused shared credential',
    operation: 'DELETE /v1/credentials/{id}',
    target: CREDENTIAL,
    confirm: ({ found, at }) => `Delete the shared credential ${found.name} ${at}?`,
    print: (run, _response, { found }) => run.printSuccess(`${found.name} is deleted`),
  }),
);

function registerAttachCommand(group: Command, { begin }: ProgramInterface): void {
  group
    .command('attach')
    .description('let agents use it; agents that already use it are not changed. --json prints one account per line')
    .argument(...CREDENTIAL.argument)
    .argument('<agents...>', 'name, slug or id')
    .action(async (text: string, agents: readonly string[]) => {
      const run = begin();
      const credential = await CREDENTIAL.find(run, text);
      // Looks up all agents before the first change, so that a typing error changes nothing.
      const found = [];
      for (const agent of agents) found.push(await findAgent(run, agent));
      for (const agent of found) await attachCredential(run, credential, agent);
    });
}

async function attachCredential(
  run: Invocation,
  { id: credentialId, name, providerSlug }: SharedCredential,
  agent: { readonly id: string; readonly slug: string },
): Promise<void> {
  const client = await run.getClient();
  const accounts = await fetchAllRows(client, 'GET /v1/providers/accounts', 'accounts', { agentId: agent.id });
  if (accounts.some((account) => account.credentialId === credentialId)) {
    run.printNote(`${agent.slug} uses ${name} already`);
    return;
  }
  const body = { agentId: agent.id, providerSlug, credentialId };
  const answer = await client.post('/v1/providers/accounts', { body });
  if (run.isJson) run.printJson(answer);
  else run.printSuccess(`${agent.slug} uses ${name} for ${providerSlug}`);
}
