/** `acg agents`: manages agents. */
import { RATE_LIMITS, type RateLimit } from '@acg/base/limit-definitions';
import { fetchAllRows } from '../../api/call-api-operation.js';
import { findAgentId, requireAgentName } from '../../api/find-agent.js';
import { findProjectId } from '../../api/find-by-name.js';
import type { Invocation } from '../../invocation/invocation.js';
import type { RegisterCommands } from '../../invocation/program-interface-for-commands.js';
import { AGENT_FIELDS, POLICY_FILE_OPTION, readPolicyFile } from '../../options/agent-options.js';
import { choiceField, nullFlagField, textField } from '../../options/field.js';
import { formatAgo, formatCents, formatCount, formatPercent } from '../../terminal/format-numbers-and-times.js';
import type { Target } from '../descriptors/operation-target-from-arguments.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

const AGENT: Target = {
  argument: ['<agent>', 'name, slug or id'],
  find: async (run, text) => ({ id: await findAgentId(run, text) }),
};
/** Without an argument, the agent of the environment or of `.acg.json`. */
const OPTIONAL_AGENT: Target = {
  argument: ['[agent]', 'name, slug or id'],
  find: (run, text) => AGENT.find(run, requireAgentName(run, text, 'acg agents get <agent>'), {}),
};

const formatUsedPercent = (percents: number | null): string => (percents === null ? '–' : `${Math.round(percents)} %`);
const formatBudget = (cents: number | null): string => (cents === null ? '–' : formatCents(cents));

/** Maps `requests per minute` → `60` and so on. */
const formatRateLimits = (agent: { readonly [field in RateLimit['field']]: number | null }): Record<string, string> =>
  Object.fromEntries(RATE_LIMITS.map(({ label, field }) => [label.toLowerCase(), String(agent[field] ?? 'no limit')]));

const statusCommand = (name: string, status: 'active' | 'paused' | 'revoked', description: string): RegisterCommands =>
  operationCommand({
    name,
    description,
    operation: 'PATCH /v1/agents/{id}/status',
    target: AGENT,
    confirm: ({ text, at }) => (status === 'revoked' ? `Revoke the agent ${text} ${at}?` : null),
    body: () => ({ status }),
    print: (run, { agent }) => run.printSuccess(`${agent.slug} is ${agent.status}`),
  });

/** Prints what other operations know about the agent: its project, spend, accounts and gateway tokens. */
async function printSurroundings(run: Invocation, agentId: string): Promise<void> {
  const client = await run.getClient();
  const { agents } = await client.get('/v1/usage/agents', { params: { query: { search: agentId, limit: 1 } } });
  const accounts = await fetchAllRows(client, 'GET /v1/providers/accounts', 'accounts', { agentId });
  const keys = await client.get('/v1/api-keys', { params: { query: { agentId, status: 'active', limit: 1 } } });
  const [usage] = agents;
  run.printFields({
    project: usage?.projectName ?? null,
    'spend this month': usage === undefined ? null : formatCents(usage.monthCents),
    'last call': usage === undefined ? null : formatAgo(usage.lastCallAt, Date.now()),
    providers: accounts.map(({ providerSlug, status }) => `${providerSlug} (${status})`).join(', ') || 'none',
    'gateway tokens': `${formatCount(keys.total)} active`,
  });
}

export const registerAgentCommands = commandGroup(
  listCommand({
    description: 'list agents of all projects with their usage',
    operation: 'GET /v1/usage/agents',
    rows: 'agents',
    inProject: true,
    filters: {
      search: textField('--search <text>', 'part of the name, the slug or the id'),
      status: choiceField('--status <status>', 'only those', ['active', 'paused', 'revoked']),
      period: choiceField('--period <period>', 'of calls and errors', ['24h', '7d', '30d']),
    },
    columns: ({ period = '24h' }) => [
      { title: 'AGENT', cell: ({ slug }) => slug },
      { title: 'PROJECT', cell: ({ projectName }) => projectName },
      { title: 'STATUS', cell: ({ status }) => status },
      { title: 'SPEND', cell: ({ monthCents }) => formatCents(monthCents), alignRight: true },
      { title: 'BUDGET', cell: ({ budgetCentsMonthly }) => formatBudget(budgetCentsMonthly), alignRight: true },
      { title: 'USED', cell: ({ budgetUsedPercent }) => formatUsedPercent(budgetUsedPercent), alignRight: true },
      { title: `CALLS ${period.toUpperCase()}`, cell: ({ requests }) => formatCount(requests), alignRight: true },
      {
        title: 'ERRORS',
        cell: ({ requests, errorRate }) => (requests === 0 ? '–' : formatPercent(errorRate)),
        alignRight: true,
      },
      { title: 'REJECTED', cell: ({ rejectedRequests }) => formatCount(rejectedRequests), alignRight: true },
      { title: 'LAST CALL', cell: ({ lastCallAt }) => formatAgo(lastCallAt, Date.now()) },
    ],
  }),
  operationCommand({
    name: 'create',
    description: 'create an agent',
    operation: 'POST /v1/agents',
    fields: { name: textField('<name>', 'name of the agent'), ...AGENT_FIELDS },
    options: [POLICY_FILE_OPTION],
    body: async (run, { options }) => ({
      projectId: await findProjectId(await run.getClient(), run.settings.project),
      ...(await readPolicyFile(run, options)),
    }),
    print: (run, { agent }) => run.printSuccess(`${agent.slug}  ${agent.id}`),
    after(run, { agent: { name, slug } }) {
      if (/-\d+$/.test(slug) && !/\d\W*$/.test(name))
        run.printNote(`another agent is called ${JSON.stringify(name)}: the slug of this one is ${slug}`);
      run.printNote(`a token for it: acg keys create --agent ${slug} --name first`);
    },
  }),
  operationCommand({
    name: 'get',
    description: 'show an agent',
    operation: 'GET /v1/agents/{id}',
    target: OPTIONAL_AGENT,
    print: (run, { agent }) =>
      run.printFields({
        agent: agent.slug,
        name: agent.name,
        id: agent.id,
        status: agent.status,
        budget:
          agent.budgetCentsMonthly === null
            ? 'none'
            : `${formatCents(agent.budgetCentsMonthly)} a month, ${agent.budgetMode}`,
        'reserved without a maximum': agent.budgetMode === 'hard' ? `${agent.holdMaxOutputTokens} output tokens` : null,
        'when limits are not checked': agent.onStoreLoss === 'refuse' ? 'its calls are rejected' : 'its calls pass',
        ...formatRateLimits(agent),
        thresholds: agent.usageThresholds.map((percent) => `${percent} %`).join(', ') || 'none',
        policy: agent.policy === null ? 'everything is allowed' : JSON.stringify(agent.policy),
        description: agent.description === '' ? null : agent.description,
        created: agent.createdAt,
      }),
    async after(run, { agent: { id } }) {
      if (!run.isJson) await printSurroundings(run, id);
    },
  }),
  operationCommand({
    name: 'set',
    description: 'change an agent',
    operation: 'PATCH /v1/agents/{id}',
    target: AGENT,
    fields: {
      name: textField('--name <name>', 'new name of the agent'),
      policy: nullFlagField('--no-policy', 'allow it every call and model of its providers, after a question'),
      ...AGENT_FIELDS,
    },
    options: [POLICY_FILE_OPTION],
    confirm: ({ text, at, options }) =>
      options.policy === false ? `Remove the policy of ${text} ${at}? It may then make every call.` : null,
    body: (run, { options }) => readPolicyFile(run, options),
    print: (run, { agent }) => run.printSuccess(agent.slug),
  }),
  statusCommand('pause', 'paused', 'reject the calls of an agent until acg agents resume'),
  statusCommand('resume', 'active', 'let the calls of an agent pass again'),
  statusCommand('revoke', 'revoked', 'reject the calls of an agent as revoked; acg agents resume undoes it'),
  operationCommand({
    name: 'delete',
    description: 'delete an agent with its gateway tokens and accounts; its usage records are kept',
    operation: 'DELETE /v1/agents/{id}',
    target: AGENT,
    confirm: ({ text, at }) => `Delete the agent ${text} ${at}?`,
    print: (run, _response, { text }) => run.printSuccess(`${text} is deleted`),
  }),
);
