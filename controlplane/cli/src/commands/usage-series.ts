/** `acg usage series` and `acg usage compare`: over time, and side by side. */
import { type Command, Option } from 'commander';
import { findAgentId } from '../api/agents.js';
import { given } from '../api/given.js';
import { type ScopeOptions, scopeQuery } from '../api/scope.js';
import { bar, count, duration, money, percent } from '../terminal/format.js';
import type { Tree } from './tree.js';

const BAR_CELLS = 20;

export function seriesCommand(group: Command, { begin }: Tree): void {
  group
    .command('series')
    .description('the same over time')
    .addOption(new Option('--interval <interval>', 'hours or days').choices(['hour', 'day']))
    .action(async ({ interval }: { readonly interval?: 'hour' | 'day' }) => {
      const run = begin();
      const query = { ...(await scopeQuery(run, group.opts<ScopeOptions>())), ...given({ interval }) };
      const answer = await (await run.client()).get('/v1/usage/timeseries', { params: { query } });
      const most = Math.max(...answer.timeseries.map(({ costCents }) => costCents), Number.EPSILON);
      const bars = { title: '', cell: (row: { costCents: number }) => bar(row.costCents / most, BAR_CELLS) };
      run.show(answer, () =>
        run.table(
          [
            { title: 'FROM (UTC)', cell: ({ bucket }) => bucket },
            { title: 'SPEND', cell: ({ costCents }) => money(costCents), right: true },
            ...(run.terminal.stdout.isTTY === true ? [bars] : []),
            { title: 'CALLS', cell: ({ requests }) => count(requests), right: true },
            { title: 'ERRORS', cell: ({ errors }) => count(errors), right: true },
            { title: 'REFUSED', cell: ({ rejectedRequests }) => count(rejectedRequests), right: true },
            { title: 'LATENCY', cell: ({ avgLatency }) => duration(avgLatency), right: true },
          ],
          answer.timeseries,
        ),
      );
    });
}

export function compareCommand(group: Command, { begin }: Tree): void {
  group
    .command('compare')
    .description('agents side by side')
    .argument('<agents...>', 'two or more; name, slug or id')
    .action(async (agents: readonly string[]) => {
      const run = begin();
      const ids: string[] = [];
      for (const agent of agents) ids.push(await findAgentId(run, agent));
      const { period, start, end } = group.opts<ScopeOptions>();
      const query = { agentIds: ids.join(','), ...given({ period, start, end }) };
      const answer = await (await run.client()).get('/v1/usage/agents/compare', { params: { query } });
      run.show(answer, () =>
        run.table(
          [
            { title: 'AGENT', cell: ({ agentName }) => agentName },
            { title: 'SPEND', cell: ({ costUsd }) => money(costUsd * 100), right: true },
            { title: 'CALLS', cell: ({ totalRequests }) => count(totalRequests), right: true },
            { title: 'ERRORS', cell: (row) => (row.totalRequests === 0 ? '–' : percent(row.errorRate)), right: true },
            { title: 'P95', cell: ({ p95Latency }) => duration(p95Latency), right: true },
            { title: 'REFUSED', cell: ({ rejectedRequests }) => count(rejectedRequests), right: true },
          ],
          answer.agents,
        ),
      );
    });
}
