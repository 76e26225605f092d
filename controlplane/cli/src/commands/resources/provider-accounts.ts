/** `acg accounts`: manages which providers an agent may use, and with which credentials. */
import { type Command, Option } from 'commander';
import { fetchAllRows, type ResponseOf } from '../../api/call-api-operation.js';
import { assertCredentialAccepted, formatCredentialTest } from '../../api/credential-test-result.js';
import { findAgentId, requireAgentName } from '../../api/find-agent.js';
import { isUuid, notFoundError } from '../../api/find-by-name.js';
import { omitUndefined } from '../../api/omit-undefined.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { CREDENTIAL_OPTIONS, type CredentialOptions, readOptionCredentials } from '../../options/credential-options.js';
import { choiceField, mapField, textField } from '../../options/field.js';
import { agentIdField } from '../../options/lookup-fields.js';
import { CliError, EXIT_CODES, usage } from '../../terminal/cli-error.js';
import { formatDay } from '../../terminal/format-numbers-and-times.js';
import type { Column } from '../../terminal/table.js';
import { addTarget, findTarget, type Target } from '../descriptors/operation-target-from-arguments.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';
import { connectCommand, describeMinted } from './connect-in-browser.js';
import { formatRotation, ROTATE_FIELDS, ROTATION_ACTION } from './credential-rotation.js';

/** Names an account by its id, or by its provider among the accounts of one agent. */
const ACCOUNT: Target<{ readonly id: string; readonly providerSlug: string }> = {
  argument: ['<account>', 'id, or the slug of its provider'],
  options: [new Option('--agent <agent>', 'the agent of the account')],
  async find(run, text, { agent }) {
    const within = isUuid(text) ? {} : { agentId: await findAgentId(run, requireAgentName(run, agent)) };
    const accounts = await fetchAllRows(await run.getClient(), 'GET /v1/providers/accounts', 'accounts', within);
    const found = accounts.filter(
      ({ id, providerSlug }) => id === text.toLowerCase() || (!isUuid(text) && providerSlug === text),
    );
    if (found.length > 1) throw usage(`${found.length} accounts are of ${text}`, 'use the id: acg accounts ls');
    if (found[0] === undefined) throw notFoundError('account', text, 'acg accounts ls');
    return found[0];
  },
};

export const registerAccountCommands = commandGroup(
  listCommand({
    description: 'list accounts',
    operation: 'GET /v1/providers/accounts',
    rows: 'accounts',
    inProject: true,
    filters: {
      agentId: agentIdField('only those of one agent'),
      providerSlug: textField('--provider <slug>', 'only those of one provider'),
      status: choiceField('--status <status>', 'only those', ['active', 'needs_credentials']),
    },
    columns: [
      { title: 'PROVIDER', cell: ({ providerSlug }) => providerSlug },
      { title: 'STATUS', cell: ({ status }) => status },
      { title: 'STATE', cell: ({ minted }) => minted?.state ?? 'stored' },
      { title: 'AGENT', cell: ({ agentName }) => agentName },
      { title: 'KEY', cell: ({ credentialId }) => (credentialId === null ? 'own' : `shared ${credentialId}`) },
      { title: 'ROTATION', cell: ({ rotation }) => rotation?.state ?? '' },
      { title: 'SENSITIVE', cell: ({ allowSensitivePaths }) => (allowSensitivePaths ? 'allowed' : 'rejected') },
      { title: 'OPAQUE', cell: ({ allowOpaque }) => (allowOpaque ? 'allowed' : 'rejected') },
      { title: 'CREATED', cell: ({ createdAt }) => formatDay(createdAt) },
      { title: 'ID', cell: ({ id }) => id },
    ],
  }),
  operationCommand({
    name: 'show',
    description: 'show an account: state of its credential, what went wrong and what to do, permissions',
    operation: 'GET /v1/providers/accounts/{id}',
    target: ACCOUNT,
    print: (run, { account }) =>
      run.printFields({
        agent: account.agentName,
        provider: account.providerSlug,
        status: account.status,
        credential: account.credentialId === null ? 'its own' : `shared ${account.credentialId}`,
        ...describeMinted(account.minted),
        'sensitive calls': account.allowSensitivePaths ? 'allowed' : 'rejected',
        'opaque calls': account.allowOpaque ? 'allowed' : 'rejected',
        added: `${formatDay(account.createdAt)} UTC`,
      }),
  }),
  registerAddCommand,
  operationCommand({
    name: 'rotate',
    description: 'replace its key',
    operation: 'POST /v1/providers/accounts/{id}/rotate',
    target: ACCOUNT,
    options: CREDENTIAL_OPTIONS,
    fields: ROTATE_FIELDS,
    body: async (run, { found, options }) => ({
      credentials: await readOptionCredentials(run, found.providerSlug, options),
    }),
    print: (run, { account: { providerSlug, rotation } }) =>
      run.printSuccess(rotation === null ? `${providerSlug} has another key` : formatRotation(providerSlug, rotation)),
  }),
  operationCommand({
    name: 'rotation',
    description: 'cancel, roll back or end a rotation that --test-first began',
    operation: 'POST /v1/providers/accounts/{id}/rotation',
    target: ACCOUNT,
    fields: { action: ROTATION_ACTION },
    print: (run, { account: { providerSlug, rotation } }) => run.printSuccess(formatRotation(providerSlug, rotation)),
  }),
  operationCommand({
    name: 'test',
    description: 'test its key with one call',
    operation: 'POST /v1/providers/accounts/{id}/test',
    target: ACCOUNT,
    print: (run, result, { found }) => run.printLine(formatCredentialTest(found.providerSlug, result)),
    after: (_run, result, { found }) => assertCredentialAccepted(found.providerSlug, result),
  }),
  connectCommand({
    description: 'have a person connect it at the provider: opens the dashboard and waits for the result',
    target: ACCOUNT,
    load: async (client, id) => (await client.get('/v1/providers/accounts/{id}', { params: { path: { id } } })).account,
    page: ({ id }) => `/providers/accounts/${id}`,
    name: ({ agentName, providerSlug }) => `${agentName} at ${providerSlug}`,
  }),
  registerToolsCommand,
  operationCommand({
    name: 'disconnect',
    description: 'forget what a person granted at the provider, and revoke it there',
    operation: 'POST /v1/providers/accounts/{id}/disconnect',
    target: ACCOUNT,
    confirm: ({ text, at }) => `Disconnect ${text} ${at}?`,
    print: (run, _response, { found }) => run.printSuccess(`${found.providerSlug} is disconnected`),
  }),
  operationCommand({
    name: 'set',
    description: 'change its permissions',
    operation: 'PATCH /v1/providers/accounts/{id}',
    target: ACCOUNT,
    fields: {
      allowSensitivePaths: mapField(
        choiceField('[sensitive-paths]', 'calls that hand out credentials', ['allow', 'refuse']),
        (choice) => choice === 'allow',
      ),
      allowOpaque: mapField(
        choiceField('--opaque <choice>', 'calls whose path does not say what they do', ['allow', 'refuse']),
        (choice) => choice === 'allow',
      ),
    },
    print: (run, { account }) => run.printSuccess(account.providerSlug),
  }),
  operationCommand({
    name: 'rm',
    description: 'remove the provider from the agent and delete its key',
    operation: 'DELETE /v1/providers/accounts/{id}',
    target: ACCOUNT,
    confirm: ({ text, at }) => `Delete the account ${text} and its credentials ${at}?`,
    print: (run, _response, { text }) => run.printSuccess(`${text} is deleted`),
  }),
);

type Tool = ResponseOf<'GET /v1/providers/accounts/{id}/tools'>['tools'][number];

const TOOL_COLUMNS: readonly Column<Tool>[] = [
  { title: 'TOOL', cell: ({ name }) => name },
  { title: 'POLICY', cell: ({ allowed }) => (allowed ? 'allowed' : 'denied') },
  { title: 'PER MINUTE', cell: ({ rpm }) => (rpm === null ? '' : String(rpm)) },
  {
    title: 'SERVER SAYS',
    cell: ({ readOnly, destructive }) => (readOnly === true ? 'read-only' : destructive === true ? 'destructive' : ''),
  },
  { title: 'TITLE', cell: ({ title, description }) => (title ?? description ?? '').slice(0, TITLE_CHARS_MAX) },
];
const TITLE_CHARS_MAX = 80;

function registerToolsCommand(group: Command, { begin }: ProgramInterface): void {
  const command = group
    .command('tools')
    .description('list the tools of its MCP server, and which of them the agent may call');
  addTarget(command, ACCOUNT);
  command.option('--refresh', 'ask the server again');
  command.action(async () => {
    const run = begin();
    const { found } = await findTarget(command, run, ACCOUNT);
    const { refresh } = command.opts<{ readonly refresh?: true }>();
    const client = await run.getClient();
    const answer = await client.get('/v1/providers/accounts/{id}/tools', {
      params: { path: { id: found.id }, query: omitUndefined({ refresh }) },
    });
    run.printResult(answer, () => run.printTable(TOOL_COLUMNS, answer.tools));
    if (answer.truncated) run.printNote('the server has more tools');
    if (answer.problem !== null) throw new CliError(EXIT_CODES.failed, answer.problem);
  });
}

interface AddOptions extends CredentialOptions {
  readonly agent?: string;
  readonly test?: true;
  readonly allowSensitivePaths?: true;
  readonly allowOpaque?: true;
}

function registerAddCommand(group: Command, { begin }: ProgramInterface): void {
  const command = group
    .command('add')
    .description('let an agent use a provider; prompts for the key without showing it')
    .argument('<provider>', 'its slug, e.g. openai')
    .option('--agent <agent>', 'the agent of the account')
    .option('--test', 'ask the provider first whether it takes the key')
    .option('--allow-sensitive-paths', 'let calls pass that hand out credentials')
    .option('--allow-opaque', 'let calls pass whose path does not say what they do, such as GraphQL');
  for (const option of CREDENTIAL_OPTIONS) command.addOption(option);
  command.action(
    async (providerSlug: string, { agent, test, allowSensitivePaths, allowOpaque, ...key }: AddOptions) => {
      const run = begin();
      const client = await run.getClient();
      const agentId = await findAgentId(run, requireAgentName(run, agent));
      const credentials = await readOptionCredentials(run, providerSlug, key);
      if (test === true) {
        const result = await client.post('/v1/providers/accounts/test', { body: { providerSlug, credentials } });
        run.printNote(formatCredentialTest(providerSlug, result));
        assertCredentialAccepted(providerSlug, result);
      }
      const body = { agentId, providerSlug, credentials, ...omitUndefined({ allowSensitivePaths, allowOpaque }) };
      const answer = await client.post('/v1/providers/accounts', { body });
      run.printResult(answer, () => run.printSuccess(`${answer.account.providerSlug}  ${answer.account.id}`));
      run.printNote(`try it: acg accounts test ${answer.account.id}`);
    },
  );
}
