/** `acg agents`. */
import { RATE_LIMITS, type RateLimit } from '@acg/base/limits';
import { type Command, Option } from 'commander';
import { findAgentId, wantedAgent } from '../api/agents.js';
import { given } from '../api/given.js';
import { findProject } from '../api/lookup.js';
import { confirmed } from '../terminal/ask.js';
import { ago, count, money, percent } from '../terminal/format.js';
import { type AgentOptions, addAgentFields, agentFields } from './agent-fields.js';
import { noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';

const NAMED = ['<agent>', 'name, slug or id'] as const;
type Status = 'active' | 'paused' | 'revoked';

export function agentCommands(group: Command, tree: Tree): void {
  listCommand(group, tree);
  createCommand(group, tree);
  readAndSetCommands(group, tree);
  statusCommand(group, tree, 'pause', 'paused', 'refuse its calls until it is resumed');
  statusCommand(group, tree, 'resume', 'active', 'let its calls pass again');
  statusCommand(group, tree, 'revoke', 'revoked', 'refuse its calls, and not as paused: resume takes it back');
  group
    .command('delete')
    .description('delete it with its keys and accounts; what it cost stays on record')
    .argument(...NAMED)
    .action(async (text: string) => {
      const run = tree.begin();
      const id = await findAgentId(run, text);
      await confirmed(run, `Delete the agent ${text} at ${run.settings.url}?`);
      const answer = await (await run.client()).delete('/v1/agents/{id}', { params: { path: { id } } });
      run.show(answer, () => run.done(`${text} is deleted`));
    });
}

interface ListOptions extends PageOptions {
  readonly search?: string;
  readonly status?: Status;
  readonly period?: '24h' | '7d' | '30d';
}

function listCommand(group: Command, { begin }: Tree): void {
  paged(group.command('ls').description('list them with their figures, over all projects'))
    .option('--search <text>', 'part of the name, the slug or the id')
    .addOption(new Option('--status <status>', 'only those').choices(['active', 'paused', 'revoked']))
    .addOption(new Option('--period <period>', 'of calls and errors').choices(['24h', '7d', '30d']))
    .action(async (options: ListOptions) => {
      const run = begin();
      const client = await run.client();
      const { search, status, period } = options;
      const { project } = run.settings;
      const within = project === null ? {} : { projectId: await findProject(client, project) };
      const query = { ...within, ...given({ search, status, period }), ...pageOf(options) };
      const answer = await client.get('/v1/usage/agents', { params: { query } });
      run.show(answer, () =>
        run.table(
          [
            { title: 'AGENT', cell: ({ slug }) => slug },
            { title: 'PROJECT', cell: ({ projectName }) => projectName },
            { title: 'STATUS', cell: ({ status }) => status },
            { title: 'SPEND', cell: ({ monthCents }) => money(monthCents), right: true },
            { title: 'BUDGET', cell: (agent) => budget(agent.budgetCentsMonthly), right: true },
            { title: 'USED', cell: (agent) => used(agent.budgetUsedPercent), right: true },
            { title: `CALLS ${(period ?? '24h').toUpperCase()}`, cell: ({ requests }) => count(requests), right: true },
            { title: 'ERRORS', cell: (agent) => (agent.requests === 0 ? '–' : percent(agent.errorRate)), right: true },
            { title: 'REFUSED', cell: ({ rejectedRequests }) => count(rejectedRequests), right: true },
            { title: 'LAST CALL', cell: ({ lastCallAt }) => ago(lastCallAt, Date.now()) },
          ],
          answer.agents,
        ),
      );
      noteRest(run, answer.agents.length, answer);
    });
}

const used = (percents: number | null): string => (percents === null ? '–' : `${Math.round(percents)} %`);
const budget = (cents: number | null): string => (cents === null ? '–' : money(cents));

/** `requests per minute` → `60`, … */
const rates = (agent: { readonly [field in RateLimit['field']]: number | null }): Record<string, string> =>
  Object.fromEntries(RATE_LIMITS.map(({ label, field }) => [label.toLowerCase(), String(agent[field] ?? 'no limit')]));

function createCommand(group: Command, { begin }: Tree): void {
  const command = group.command('create').description('make one').argument('<name>', 'its name');
  addAgentFields(command).action(async (name: string, options: AgentOptions) => {
    const run = begin();
    const client = await run.client();
    const projectId = await findProject(client, run.settings.project);
    const body = { projectId, name, ...(await agentFields(run, options)) };
    const answer = await client.post('/v1/agents', { body });
    run.show(answer, () => run.done(`${answer.agent.slug}  ${answer.agent.id}`));
    run.note(`a token for it: acg keys create --agent ${answer.agent.slug} --name first`);
  });
}

function readAndSetCommands(group: Command, { begin }: Tree): void {
  group
    .command('get')
    .description('show one')
    .argument('[agent]', 'name, slug or id')
    .action(async (text: string | undefined) => {
      const run = begin();
      const id = await findAgentId(run, wantedAgent(run, text, 'acg agents get <agent>'));
      const answer = await (await run.client()).get('/v1/agents/{id}', { params: { path: { id } } });
      const { agent } = answer;
      run.show(answer, () =>
        run.facts({
          agent: agent.slug,
          name: agent.name,
          id: agent.id,
          status: agent.status,
          budget:
            agent.budgetCentsMonthly === null
              ? 'none'
              : `${money(agent.budgetCentsMonthly)} a month, ${agent.budgetMode}`,
          'held without a maximum': agent.budgetMode === 'hard' ? `${agent.holdMaxOutputTokens} output tokens` : null,
          'when limits are not checked': agent.onStoreLoss === 'refuse' ? 'its calls are refused' : 'its calls pass',
          ...rates(agent),
          thresholds: agent.usageThresholds.map((percent) => `${percent} %`).join(', ') || 'none',
          policy: agent.policy === null ? 'everything is allowed' : JSON.stringify(agent.policy),
          description: agent.description === '' ? null : agent.description,
          created: agent.createdAt,
        }),
      );
    });
  const set = group
    .command('set')
    .description('change one')
    .argument(...NAMED)
    .option('--name <name>', 'its name')
    .option('--no-policy', 'allow it every call and model of its providers, after a question');
  addAgentFields(set).action(async (text: string, options: AgentOptions) => {
    const run = begin();
    const id = await findAgentId(run, text);
    if (options.policy === false) {
      await confirmed(run, `Remove the policy of ${text} at ${run.settings.url}? It may then make every call.`);
    }
    const answer = await (await run.client()).patch('/v1/agents/{id}', {
      params: { path: { id } },
      body: await agentFields(run, options),
    });
    run.show(answer, () => run.done(`${answer.agent.slug}`));
  });
}

function statusCommand(group: Command, { begin }: Tree, name: string, status: Status, description: string): void {
  group
    .command(name)
    .description(description)
    .argument(...NAMED)
    .action(async (text: string) => {
      const run = begin();
      const id = await findAgentId(run, text);
      if (status === 'revoked') await confirmed(run, `Revoke the agent ${text} at ${run.settings.url}?`);
      const answer = await (await run.client()).patch('/v1/agents/{id}/status', {
        params: { path: { id } },
        body: { status },
      });
      run.show(answer, () => run.done(`${answer.agent.slug} is ${answer.agent.status}`));
    });
}
