/** `acg keys`: manages gateway tokens. */
import { type Command, Option } from 'commander';
import { findAgentId, requireAgentName } from '../../api/find-agent.js';
import { findProjectId } from '../../api/find-by-name.js';
import { findKeyId } from '../../api/find-key.js';
import { omitUndefined } from '../../api/omit-undefined.js';
import type { CommandContext } from '../../invocation/command-context.js';
import type { Invocation } from '../../invocation/invocation.js';
import { parseDuration } from '../../options/parse-duration.js';
import { addPageOptions, type PageOptions, printRemainingRows, toPageQuery } from '../../options/parse-options.js';
import { usage } from '../../terminal/cli-error.js';
import { formatAgo, formatDay, formatMinute } from '../../terminal/format.js';
import { requireConfirmation } from '../../terminal/prompt.js';

interface KeyScopeOptions {
  readonly agent?: string;
  readonly scope?: 'agent' | 'project' | 'org';
}
interface CreateOptions extends KeyScopeOptions {
  readonly name: string;
  readonly expires?: string;
  readonly save?: true;
}

export function registerKeyCommands(group: Command, tree: CommandContext): void {
  registerListCommand(group, tree);
  registerCreateCommand(group, tree);
  registerSetCommand(group, tree);
  registerRotateCommand(group, tree);
  group
    .command('revoke')
    .description('revoke a gateway token and abort its calls in flight')
    .argument('<key>', 'id, prefix or name')
    .option('--agent <agent>', 'only among its keys')
    .action(async (text: string, { agent }: KeyScopeOptions) => {
      const run = tree.begin();
      const client = await run.getClient();
      const key = await findKeyId(client, text, agent === undefined ? null : await findAgentId(run, agent));
      await requireConfirmation(run, `Revoke the key ${text} at ${run.settings.url}?`);
      const answer = await client.delete('/v1/api-keys/{id}', { params: { path: { id: key } } });
      run.printResult(answer, () => run.printSuccess(`${text} is revoked`));
    });
}

interface ListOptions extends PageOptions, KeyScopeOptions {
  readonly search?: string;
  readonly status?: 'active' | 'expired';
  readonly neverUsed?: true;
  readonly unused?: string;
}

function registerListCommand(group: Command, { begin }: CommandContext): void {
  addPageOptions(group.command('ls').description('list gateway tokens; the secrets are never shown again'))
    .option('--agent <agent>', 'only those of one agent')
    .option('--search <text>', 'part of the name, of the agent’s or of the prefix')
    .addOption(new Option('--status <status>', 'only those').choices(['active', 'expired']))
    .option('--never-used', 'only those that no call has used yet')
    .option('--unused <span>', 'only those that no call has used for so long, e.g. 30d')
    .action(async (options: ListOptions) => {
      const run = begin();
      const client = await run.getClient();
      const { agent, search, status, neverUsed, unused } = options;
      const { project } = run.settings;
      const within =
        agent !== undefined
          ? { agentId: await findAgentId(run, agent) }
          : project !== null
            ? { projectId: await findProjectId(client, project) }
            : {};
      const unusedSince =
        unused === undefined ? undefined : new Date(Date.now() - parseDuration(unused, '--unused')).toISOString();
      const query = {
        ...within,
        ...omitUndefined({ search, status, neverUsed, unusedSince }),
        ...toPageQuery(options),
      };
      const answer = await client.get('/v1/api-keys', { params: { query } });
      run.printResult(answer, () =>
        run.printTable(
          [
            { title: 'KEY', cell: ({ keyPrefix }) => keyPrefix },
            { title: 'NAME', cell: ({ name }) => name },
            { title: 'AGENT', cell: ({ agentName, scope }) => agentName ?? `– (${scope})` },
            { title: 'STATUS', cell: ({ status, replacedBy }) => (replacedBy === null ? status : 'replaced') },
            { title: 'LAST USED', cell: ({ lastUsedAt }) => formatAgo(lastUsedAt, Date.now()) },
            { title: 'EXPIRES', cell: ({ expiresAt }) => formatDay(expiresAt) },
            { title: 'ID', cell: ({ id }) => id },
          ],
          answer.keys,
        ),
      );
      printRemainingRows(run, answer.keys.length, answer);
    });
}

function registerCreateCommand(group: Command, { begin }: CommandContext): void {
  group
    .command('create')
    .description('create a gateway token; prints only the token, once, on stdout')
    .requiredOption('--name <name>', 'what it is for')
    .option('--agent <agent>', 'whose it is')
    .addOption(new Option('--scope <scope>', 'whose calls it may make').choices(['agent', 'project', 'org']))
    .option('--expires <span>', 'when it ends, e.g. 90d; never, if left out')
    .option('--save', 'keep it for acg run, in the file of credentials (0600)')
    .action(async (options: CreateOptions) => {
      const run = begin();
      const scope = await resolveKeyScope(run, options);
      if (options.save === true && scope.scope !== 'agent') throw usage('--save keeps tokens of one agent only');
      const expiresAt = toExpiresAt(options.expires);
      const body = { name: options.name, ...scope, ...omitUndefined({ expiresAt }) };
      const answer = await (await run.getClient()).post('/v1/api-keys', { body });
      const { key, secretKey } = answer;
      if (options.save === true && scope.agentId !== undefined) {
        run.profiles.saveGatewayToken(run.settings.profile, scope.agentId, { token: secretKey, keyId: key.id });
        run.printNote(`kept in ${run.profiles.credentialsPath} (0600) for acg run`);
      }
      run.printResult(answer, () => run.printLine(secretKey));
      run.printNote(
        `shown once; expires ${expiresAt === undefined ? 'never' : formatDay(expiresAt)}; revoke: acg keys revoke ${key.keyPrefix}`,
      );
    });
}

interface SetOptions extends KeyScopeOptions {
  readonly name?: string;
  readonly expires?: string;
}

function registerSetCommand(group: Command, { begin }: CommandContext): void {
  group
    .command('set')
    .description('rename a gateway token or change its expiry')
    .argument('<key>', 'id, prefix or name')
    .option('--agent <agent>', 'only among its keys')
    .option('--name <name>', 'what it is for')
    .option('--expires <span>', 'when it ends, e.g. 90d from now, or none')
    .action(async (text: string, { agent, name, expires }: SetOptions) => {
      const run = begin();
      const client = await run.getClient();
      const id = await findKeyId(client, text, agent === undefined ? null : await findAgentId(run, agent));
      const body = omitUndefined({ name, expiresAt: expires === 'none' ? null : toExpiresAt(expires) });
      const answer = await client.patch('/v1/api-keys/{id}', { params: { path: { id } }, body });
      const { key } = answer;
      run.printResult(answer, () =>
        run.printSuccess(`${key.name} (${key.keyPrefix}) ends ${formatDay(key.expiresAt)}`),
      );
    });
}

interface RotateOptions extends KeyScopeOptions {
  readonly grace?: string;
  readonly expires?: string;
}

function registerRotateCommand(group: Command, { begin }: CommandContext): void {
  group
    .command('rotate')
    .description('replace a gateway token; prints only the new token, once, on stdout')
    .argument('<key>', 'id, prefix or name')
    .option('--agent <agent>', 'only among its keys')
    .option('--grace <span>', 'how long the old one works on, or 0; 24h, if left out')
    .option('--expires <span>', 'when the new one ends; if left out, it lives as long as the old one was made for')
    .action(async (text: string, { agent, grace, expires }: RotateOptions) => {
      const run = begin();
      const client = await run.getClient();
      const id = await findKeyId(client, text, agent === undefined ? null : await findAgentId(run, agent));
      const graceSeconds =
        grace === undefined ? undefined : grace === '0' ? 0 : parseDuration(grace, '--grace') / 1_000;
      const body = omitUndefined({ graceSeconds, expiresAt: toExpiresAt(expires) });
      const answer = await client.post('/v1/api-keys/{id}/rotate', { params: { path: { id } }, body });
      const { key, secretKey, previous } = answer;
      run.printResult(answer, () => run.printLine(secretKey));
      run.printNote(
        `shown once; ${previous.keyPrefix} expires ${formatMinute(previous.expiresAt)} UTC, ${key.keyPrefix} ${key.expiresAt === null ? 'never' : formatDay(key.expiresAt)}`,
      );
    });
}

/** Returns the instant that lies `span` from now. */
const toExpiresAt = (span: string | undefined): string | undefined =>
  span === undefined ? undefined : new Date(Date.now() + parseDuration(span, '--expires')).toISOString();

interface KeyScope {
  readonly scope: 'agent' | 'project' | 'org';
  readonly agentId?: string;
  readonly projectId?: string;
}

async function resolveKeyScope(run: Invocation, { scope = 'agent', agent }: KeyScopeOptions): Promise<KeyScope> {
  if (scope === 'org') return { scope };
  if (scope === 'project')
    return { scope, projectId: await findProjectId(await run.getClient(), run.settings.project) };
  return { scope, agentId: await findAgentId(run, requireAgentName(run, agent)) };
}
