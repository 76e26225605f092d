/** `acg keys`: manages gateway tokens. */
import { type Command, Option } from 'commander';
import { fetchAllRows } from '../../api/call-api-operation.js';
import { findAgentId, requireAgentName } from '../../api/find-agent.js';
import { findProjectId, isUuid, selectByName } from '../../api/find-by-name.js';
import { omitUndefined } from '../../api/omit-undefined.js';
import type { Invocation } from '../../invocation/invocation.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { expiryField, graceSecondsField, toExpiresAt } from '../../options/expiry-and-grace-fields.js';
import { choiceField, flagField, mapField, textField } from '../../options/field.js';
import { agentIdField } from '../../options/lookup-fields.js';
import { parseDuration } from '../../options/parse-duration.js';
import { usage } from '../../terminal/cli-error.js';
import { formatAgo, formatMinute } from '../../terminal/format-numbers-and-times.js';
import type { Target } from '../descriptors/operation-target-from-arguments.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

const KEY: Target = {
  argument: ['<key>', 'id, prefix or name'],
  options: [new Option('--agent <agent>', 'only among its keys')],
  async find(run, text, { agent }) {
    const agentId = agent === undefined ? undefined : await findAgentId(run, agent);
    if (isUuid(text)) return { id: text };
    const keys = await fetchAllRows(await run.getClient(), 'GET /v1/api-keys', 'keys', omitUndefined({ agentId }));
    const prefix = text.startsWith('acg_') ? text : `acg_${text}`;
    const byPrefix = keys.find(({ keyPrefix }) => keyPrefix === prefix);
    if (byPrefix !== undefined) return byPrefix;
    // A replaced key still works for a while; its name means the key that replaced it.
    const current = keys.filter(({ replacedBy }) => replacedBy === null);
    return selectByName(current, text, 'key', 'acg keys ls');
  },
};

export const registerKeyCommands = commandGroup(
  listCommand({
    description: 'list gateway tokens; the secrets are never shown again',
    operation: 'GET /v1/api-keys',
    rows: 'keys',
    inProject: true,
    filters: {
      agentId: agentIdField('only those of one agent'),
      search: textField('--search <text>', 'part of the name, of the agent’s or of the prefix'),
      status: choiceField('--status <status>', 'only those; without it, none that is revoked', [
        'active',
        'expired',
        'revoked',
      ]),
      neverUsed: flagField('--never-used', 'only those that no call has used yet'),
      unusedSince: mapField(
        textField('--unused <span>', 'only those that no call has used for so long, e.g. 30d'),
        (span) => new Date(Date.now() - parseDuration(span, '--unused')).toISOString(),
      ),
    },
    columns: [
      { title: 'KEY', cell: ({ keyPrefix }) => keyPrefix },
      { title: 'NAME', cell: ({ name }) => name },
      { title: 'AGENT', cell: ({ agentName, scope }) => agentName ?? `– (${scope})` },
      { title: 'STATUS', cell: ({ status, replacedBy }) => (replacedBy === null ? status : 'replaced') },
      { title: 'LAST USED', cell: ({ lastUsedAt }) => formatAgo(lastUsedAt, Date.now()) },
      { title: 'EXPIRES', cell: ({ expiresAt }) => formatMinute(expiresAt) },
      { title: 'ID', cell: ({ id }) => id },
    ],
  }),
  operationCommand({
    name: 'show',
    description: 'show a gateway token: scope, last use, end; by id also a revoked one',
    operation: 'GET /v1/api-keys/{id}',
    target: KEY,
    print: (run, { key }) =>
      run.printFields({
        name: key.name,
        prefix: key.keyPrefix,
        scope: key.agentName ?? key.scope,
        status: key.status,
        created: `${formatMinute(key.createdAt)} UTC`,
        'last used': formatAgo(key.lastUsedAt, Date.now()),
        expires: formatMinute(key.expiresAt),
        revoked: formatMinute(key.revokedAt),
      }),
  }),
  registerCreateCommand,
  operationCommand({
    name: 'set',
    description: 'rename a gateway token or change its expiry',
    operation: 'PATCH /v1/api-keys/{id}',
    target: KEY,
    fields: {
      name: textField('--name <name>', 'what it is for'),
      expiresAt: mapField(textField('--expires <span>', 'when it ends, e.g. 90d from now, or none'), (span) =>
        span === 'none' ? null : toExpiresAt(span),
      ),
    },
    print: (run, { key }) =>
      run.printSuccess(
        `${key.name} (${key.keyPrefix}) ends ${key.expiresAt === null ? 'never' : `${formatMinute(key.expiresAt)} UTC`}`,
      ),
  }),
  operationCommand({
    name: 'rotate',
    description: 'replace a gateway token; prints only the new token, once, on stdout',
    operation: 'POST /v1/api-keys/{id}/rotate',
    target: KEY,
    fields: {
      graceSeconds: graceSecondsField('how long the old one works on, or 0; 24h, if left out'),
      expiresAt: expiryField('when the new one ends; if left out, it lives as long as the old one was made for'),
    },
    print: (run, { secretKey }) => run.printLine(secretKey),
    after: (run, { key, previous }) =>
      run.printNote(
        `shown once; ${previous.keyPrefix} expires ${formatMinute(previous.expiresAt)} UTC, ${key.keyPrefix} ${key.expiresAt === null ? 'never' : `${formatMinute(key.expiresAt)} UTC`}`,
      ),
  }),
  operationCommand({
    name: 'revoke',
    description: 'revoke a gateway token and abort its calls in flight',
    operation: 'DELETE /v1/api-keys/{id}',
    target: KEY,
    confirm: ({ text, at }) => `Revoke the key ${text} ${at}?`,
    print: (run, _response, { text }) => run.printSuccess(`${text} is revoked`),
    after: (run, _response, { found }) => run.profiles.forgetGatewayToken(found.id),
  }),
);

interface CreateOptions {
  readonly agent?: string;
  readonly scope?: 'agent' | 'project' | 'org';
  readonly name: string;
  readonly expires?: string;
  readonly save?: true;
}

function registerCreateCommand(group: Command, { begin }: ProgramInterface): void {
  group
    .command('create')
    .description('create a gateway token; prints only the token, once, on stdout')
    .requiredOption('--name <name>', 'what it is for')
    .option('--agent <agent>', 'the agent that uses the token')
    .addOption(new Option('--scope <scope>', 'whose calls it may make').choices(['agent', 'project', 'org']))
    .option('--expires <span>', 'when it ends, e.g. 90d; never, if left out')
    .option('--save', 'keep it for acg run, in the file of credentials (0600)')
    .action(async (options: CreateOptions) => {
      const run = begin();
      const scope = await resolveKeyScope(run, options);
      if (options.save === true && scope.scope !== 'agent') throw usage('--save keeps tokens of one agent only');
      const expiresAt = options.expires === undefined ? undefined : toExpiresAt(options.expires);
      const body = { name: options.name, ...scope, ...omitUndefined({ expiresAt }) };
      const answer = await (await run.getClient()).post('/v1/api-keys', { body });
      const { key, secretKey } = answer;
      if (options.save === true && scope.agentId !== undefined) {
        run.profiles.saveGatewayToken(run.settings.profile, scope.agentId, { token: secretKey, keyId: key.id });
        run.printNote(`kept in ${run.profiles.credentialsPath} (0600) for acg run`);
      }
      run.printResult(answer, () => run.printLine(secretKey));
      run.printNote(
        `shown once; expires ${expiresAt === undefined ? 'never' : `${formatMinute(expiresAt)} UTC`}; revoke: acg keys revoke ${key.keyPrefix}`,
      );
    });
}

interface KeyScope {
  readonly scope: 'agent' | 'project' | 'org';
  readonly agentId?: string;
  readonly projectId?: string;
}

async function resolveKeyScope(run: Invocation, { scope = 'agent', agent }: CreateOptions): Promise<KeyScope> {
  if (scope === 'org') return { scope };
  if (scope === 'project')
    return { scope, projectId: await findProjectId(await run.getClient(), run.settings.project) };
  return { scope, agentId: await findAgentId(run, requireAgentName(run, agent)) };
}
