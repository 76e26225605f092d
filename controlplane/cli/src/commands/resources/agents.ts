/** `acg agents`: manages agents. */
import { RATE_LIMITS, type RateLimit } from '@acg/base/limits';
import { type Command, Option } from 'commander';
import { findAgentId, requireAgentName } from '../../api/find-agent.js';
import { findProjectId } from '../../api/find-by-name.js';
import { omitUndefined } from '../../api/omit-undefined.js';
import type { CommandContext } from '../../invocation/command-context.js';
import { type AgentOptions, addAgentOptions, toAgentFields } from '../../options/agent-options.js';
import { addPageOptions, type PageOptions, printRemainingRows, toPageQuery } from '../../options/parse-options.js';
import { formatAgo, formatCents, formatCount, formatPercent } from '../../terminal/format.js';
import { requireConfirmation } from '../../terminal/prompt.js';

const AGENT_ARGUMENT = ['<agent>', 'name, slug or id'] as const;
type Status = 'active' | 'paused' | 'revoked';

export function registerAgentCommands(group: Command, tree: CommandContext): void {
  registerListCommand(group, tree);
  registerCreateCommand(group, tree);
  registerReadAndSetCommands(group, tree);
  registerStatusCommand(group, tree, 'pause', 'paused', 'refuse its calls until it is resumed');
  registerStatusCommand(group, tree, 'resume', 'active', 'let its calls pass again');
  registerStatusCommand(group, tree, 'revoke', 'revoked', 'refuse its calls, and not as paused: resume takes it back');
  group
    .command('delete')
    .description('delete an agent with its gateway tokens and accounts; its usage records are kept')
    .argument(...AGENT_ARGUMENT)
    .action(async (text: string) => {
      const run = tree.begin();
      const id = await findAgentId(run, text);
      await requireConfirmation(run, `Delete the agent ${text} at ${run.settings.url}?`);
      const answer = await (await run.getClient()).delete('/v1/agents/{id}', { params: { path: { id } } });
      run.printResult(answer, () => run.printSuccess(`${text} is deleted`));
    });
}

interface ListOptions extends PageOptions {
  readonly search?: string;
  readonly status?: Status;
  readonly period?: '24h' | '7d' | '30d';
}

function registerListCommand(group: Command, { begin }: CommandContext): void {
  addPageOptions(group.command('ls').description('list agents of all projects with their usage'))
    .option('--search <text>', 'part of the name, the slug or the id')
    .addOption(new Option('--status <status>', 'only those').choices(['active', 'paused', 'revoked']))
    .addOption(new Option('--period <period>', 'of calls and errors').choices(['24h', '7d', '30d']))
    .action(async (options: ListOptions) => {
      const run = begin();
      const client = await run.getClient();
      const { search, status, period } = options;
      const { project } = run.settings;
      const within = project === null ? {} : { projectId: await findProjectId(client, project) };
      const query = { ...within, ...omitUndefined({ search, status, period }), ...toPageQuery(options) };
      const answer = await client.get('/v1/usage/agents', { params: { query } });
      run.printResult(answer, () =>
        run.printTable(
          [
            { title: 'AGENT', cell: ({ slug }) => slug },
            { title: 'PROJECT', cell: ({ projectName }) => projectName },
            { title: 'STATUS', cell: ({ status }) => status },
            { title: 'SPEND', cell: ({ monthCents }) => formatCents(monthCents), alignRight: true },
            { title: 'BUDGET', cell: (agent) => formatBudget(agent.budgetCentsMonthly), alignRight: true },
            { title: 'USED', cell: (agent) => formatUsedPercent(agent.budgetUsedPercent), alignRight: true },
            {
              title: `CALLS ${(period ?? '24h').toUpperCase()}`,
              cell: ({ requests }) => formatCount(requests),
              alignRight: true,
            },
            {
              title: 'ERRORS',
              cell: (agent) => (agent.requests === 0 ? '–' : formatPercent(agent.errorRate)),
              alignRight: true,
            },
            { title: 'REJECTED', cell: ({ rejectedRequests }) => formatCount(rejectedRequests), alignRight: true },
            { title: 'LAST CALL', cell: ({ lastCallAt }) => formatAgo(lastCallAt, Date.now()) },
          ],
          answer.agents,
        ),
      );
      printRemainingRows(run, answer.agents.length, answer);
    });
}

const formatUsedPercent = (percents: number | null): string => (percents === null ? '–' : `${Math.round(percents)} %`);
const formatBudget = (cents: number | null): string => (cents === null ? '–' : formatCents(cents));

/** Maps `requests per minute` → `60` and so on. */
const formatRateLimits = (agent: { readonly [field in RateLimit['field']]: number | null }): Record<string, string> =>
  Object.fromEntries(RATE_LIMITS.map(({ label, field }) => [label.toLowerCase(), String(agent[field] ?? 'no limit')]));

function registerCreateCommand(group: Command, { begin }: CommandContext): void {
  const command = group.command('create').description('create an agent').argument('<name>', 'name of the agent');
  addAgentOptions(command).action(async (name: string, options: AgentOptions) => {
    const run = begin();
    const client = await run.getClient();
    const projectId = await findProjectId(client, run.settings.project);
    const body = { projectId, name, ...(await toAgentFields(run, options)) };
    const answer = await client.post('/v1/agents', { body });
    run.printResult(answer, () => run.printSuccess(`${answer.agent.slug}  ${answer.agent.id}`));
    run.printNote(`a token for it: acg keys create --agent ${answer.agent.slug} --name first`);
  });
}

function registerReadAndSetCommands(group: Command, { begin }: CommandContext): void {
  group
    .command('get')
    .description('show an agent')
    .argument('[agent]', 'name, slug or id')
    .action(async (text: string | undefined) => {
      const run = begin();
      const id = await findAgentId(run, requireAgentName(run, text, 'acg agents get <agent>'));
      const answer = await (await run.getClient()).get('/v1/agents/{id}', { params: { path: { id } } });
      const { agent } = answer;
      run.printResult(answer, () =>
        run.printFields({
          agent: agent.slug,
          name: agent.name,
          id: agent.id,
          status: agent.status,
          budget:
            agent.budgetCentsMonthly === null
              ? 'none'
              : `${formatCents(agent.budgetCentsMonthly)} a month, ${agent.budgetMode}`,
          'reserved without a maximum':
            agent.budgetMode === 'hard' ? `${agent.holdMaxOutputTokens} output tokens` : null,
          'when limits are not checked': agent.onStoreLoss === 'refuse' ? 'its calls are rejected' : 'its calls pass',
          ...formatRateLimits(agent),
          thresholds: agent.usageThresholds.map((percent) => `${percent} %`).join(', ') || 'none',
          policy: agent.policy === null ? 'everything is allowed' : JSON.stringify(agent.policy),
          description: agent.description === '' ? null : agent.description,
          created: agent.createdAt,
        }),
      );
    });
  const set = group
    .command('set')
    .description('change an agent')
    .argument(...AGENT_ARGUMENT)
    .option('--name <name>', 'its name')
    .option('--no-policy', 'allow it every call and model of its providers, after a question');
  addAgentOptions(set).action(async (text: string, options: AgentOptions) => {
    const run = begin();
    const id = await findAgentId(run, text);
    if (options.policy === false) {
      await requireConfirmation(
        run,
        `Remove the policy of ${text} at ${run.settings.url}? It may then make every call.`,
      );
    }
    const answer = await (await run.getClient()).patch('/v1/agents/{id}', {
      params: { path: { id } },
      body: await toAgentFields(run, options),
    });
    run.printResult(answer, () => run.printSuccess(`${answer.agent.slug}`));
  });
}

function registerStatusCommand(
  group: Command,
  { begin }: CommandContext,
  name: string,
  status: Status,
  description: string,
): void {
  group
    .command(name)
    .description(description)
    .argument(...AGENT_ARGUMENT)
    .action(async (text: string) => {
      const run = begin();
      const id = await findAgentId(run, text);
      if (status === 'revoked') await requireConfirmation(run, `Revoke the agent ${text} at ${run.settings.url}?`);
      const answer = await (await run.getClient()).patch('/v1/agents/{id}/status', {
        params: { path: { id } },
        body: { status },
      });
      run.printResult(answer, () => run.printSuccess(`${answer.agent.slug} is ${answer.agent.status}`));
    });
}
