/** `acg keys`: gateway tokens. */
import { type Command, Option } from 'commander';
import { findAgentId, wantedAgent } from '../api/agents.js';
import { given } from '../api/given.js';
import { findKey } from '../api/keys.js';
import { findProject } from '../api/lookup.js';
import type { Invocation } from '../invocation/invocation.js';
import { confirmed } from '../terminal/ask.js';
import { usage } from '../terminal/failure.js';
import { ago, day, minute } from '../terminal/format.js';
import { parseDuration } from './duration.js';
import { noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';

interface ScopeOptions {
  readonly agent?: string;
  readonly scope?: 'agent' | 'project' | 'org';
}
interface CreateOptions extends ScopeOptions {
  readonly name: string;
  readonly expires?: string;
  readonly save?: true;
}

export function keyCommands(group: Command, tree: Tree): void {
  listCommand(group, tree);
  createCommand(group, tree);
  setCommand(group, tree);
  rotateCommand(group, tree);
  group
    .command('revoke')
    .description('end one: at once, and the calls that are under way')
    .argument('<key>', 'id, prefix or name')
    .option('--agent <agent>', 'only among its keys')
    .action(async (text: string, { agent }: ScopeOptions) => {
      const run = tree.begin();
      const client = await run.client();
      const key = await findKey(client, text, agent === undefined ? null : await findAgentId(run, agent));
      await confirmed(run, `Revoke the key ${text} at ${run.settings.url}?`);
      const answer = await client.delete('/v1/api-keys/{id}', { params: { path: { id: key } } });
      run.show(answer, () => run.done(`${text} is revoked`));
    });
}

interface ListOptions extends PageOptions, ScopeOptions {
  readonly search?: string;
  readonly status?: 'active' | 'expired';
  readonly neverUsed?: true;
  readonly unused?: string;
}

function listCommand(group: Command, { begin }: Tree): void {
  paged(group.command('ls').description('list them; the tokens themselves are never shown again'))
    .option('--agent <agent>', 'only those of one agent')
    .option('--search <text>', 'part of the name, of the agent’s or of the prefix')
    .addOption(new Option('--status <status>', 'only those').choices(['active', 'expired']))
    .option('--never-used', 'only those that no call has used yet')
    .option('--unused <span>', 'only those that no call has used for so long, e.g. 30d')
    .action(async (options: ListOptions) => {
      const run = begin();
      const client = await run.client();
      const { agent, search, status, neverUsed, unused } = options;
      const { project } = run.settings;
      const within =
        agent !== undefined
          ? { agentId: await findAgentId(run, agent) }
          : project !== null
            ? { projectId: await findProject(client, project) }
            : {};
      const unusedSince =
        unused === undefined ? undefined : new Date(Date.now() - parseDuration(unused, '--unused')).toISOString();
      const query = { ...within, ...given({ search, status, neverUsed, unusedSince }), ...pageOf(options) };
      const answer = await client.get('/v1/api-keys', { params: { query } });
      run.show(answer, () =>
        run.table(
          [
            { title: 'KEY', cell: ({ keyPrefix }) => keyPrefix },
            { title: 'NAME', cell: ({ name }) => name },
            { title: 'AGENT', cell: ({ agentName, scope }) => agentName ?? `– (${scope})` },
            { title: 'STATUS', cell: ({ status, replacedBy }) => (replacedBy === null ? status : 'replaced') },
            { title: 'LAST USED', cell: ({ lastUsedAt }) => ago(lastUsedAt, Date.now()) },
            { title: 'EXPIRES', cell: ({ expiresAt }) => day(expiresAt) },
            { title: 'ID', cell: ({ id }) => id },
          ],
          answer.keys,
        ),
      );
      noteRest(run, answer.keys.length, answer);
    });
}

function createCommand(group: Command, { begin }: Tree): void {
  group
    .command('create')
    .description('make one: the token alone on stdout, once')
    .requiredOption('--name <name>', 'what it is for')
    .option('--agent <agent>', 'whose it is')
    .addOption(new Option('--scope <scope>', 'whose calls it may make').choices(['agent', 'project', 'org']))
    .option('--expires <span>', 'when it ends, e.g. 90d; never, if left out')
    .option('--save', 'keep it for acg run, in the file of credentials (0600)')
    .action(async (options: CreateOptions) => {
      const run = begin();
      const scope = await scopeOf(run, options);
      if (options.save === true && scope.scope !== 'agent') throw usage('--save keeps tokens of one agent only');
      const expiresAt = instantAfter(options.expires);
      const body = { name: options.name, ...scope, ...given({ expiresAt }) };
      const answer = await (await run.client()).post('/v1/api-keys', { body });
      const { key, secretKey } = answer;
      if (options.save === true && scope.agentId !== undefined) {
        run.profiles.saveGatewayToken(run.settings.profile, scope.agentId, { token: secretKey, keyId: key.id });
        run.note(`kept in ${run.profiles.credentialsPath} (0600) for acg run`);
      }
      run.show(answer, () => run.out(secretKey));
      run.note(
        `shown once; expires ${expiresAt === undefined ? 'never' : day(expiresAt)}; revoke: acg keys revoke ${key.keyPrefix}`,
      );
    });
}

interface SetOptions extends ScopeOptions {
  readonly name?: string;
  readonly expires?: string;
}

function setCommand(group: Command, { begin }: Tree): void {
  group
    .command('set')
    .description('rename one, or change when it ends')
    .argument('<key>', 'id, prefix or name')
    .option('--agent <agent>', 'only among its keys')
    .option('--name <name>', 'what it is for')
    .option('--expires <span>', 'when it ends, e.g. 90d from now, or none')
    .action(async (text: string, { agent, name, expires }: SetOptions) => {
      const run = begin();
      const client = await run.client();
      const id = await findKey(client, text, agent === undefined ? null : await findAgentId(run, agent));
      const body = given({ name, expiresAt: expires === 'none' ? null : instantAfter(expires) });
      const answer = await client.patch('/v1/api-keys/{id}', { params: { path: { id } }, body });
      const { key } = answer;
      run.show(answer, () => run.done(`${key.name} (${key.keyPrefix}) ends ${day(key.expiresAt)}`));
    });
}

interface RotateOptions extends ScopeOptions {
  readonly grace?: string;
  readonly expires?: string;
}

function rotateCommand(group: Command, { begin }: Tree): void {
  group
    .command('rotate')
    .description('make another one in its place: the token alone on stdout, once')
    .argument('<key>', 'id, prefix or name')
    .option('--agent <agent>', 'only among its keys')
    .option('--grace <span>', 'how long the old one works on, or 0; 24h, if left out')
    .option('--expires <span>', 'when the new one ends; if left out, it lives as long as the old one was made for')
    .action(async (text: string, { agent, grace, expires }: RotateOptions) => {
      const run = begin();
      const client = await run.client();
      const id = await findKey(client, text, agent === undefined ? null : await findAgentId(run, agent));
      const graceSeconds =
        grace === undefined ? undefined : grace === '0' ? 0 : parseDuration(grace, '--grace') / 1_000;
      const body = given({ graceSeconds, expiresAt: instantAfter(expires) });
      const answer = await client.post('/v1/api-keys/{id}/rotate', { params: { path: { id } }, body });
      const { key, secretKey, previous } = answer;
      run.show(answer, () => run.out(secretKey));
      run.note(
        `shown once; ${previous.keyPrefix} ends ${minute(previous.expiresAt)} UTC, ${key.keyPrefix} ${key.expiresAt === null ? 'never' : day(key.expiresAt)}`,
      );
    });
}

/** After that span from now. */
const instantAfter = (span: string | undefined): string | undefined =>
  span === undefined ? undefined : new Date(Date.now() + parseDuration(span, '--expires')).toISOString();

interface Scope {
  readonly scope: 'agent' | 'project' | 'org';
  readonly agentId?: string;
  readonly projectId?: string;
}

async function scopeOf(run: Invocation, { scope = 'agent', agent }: ScopeOptions): Promise<Scope> {
  if (scope === 'org') return { scope };
  if (scope === 'project') return { scope, projectId: await findProject(await run.client(), run.settings.project) };
  return { scope, agentId: await findAgentId(run, wantedAgent(run, agent)) };
}
