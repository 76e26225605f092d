/** `acg usage series` and `acg usage compare`: usage over time, and agents side by side. */
import { type Command, Option } from 'commander';
import { findAgentId } from '../../api/find-agent.js';
import { omitUndefined } from '../../api/omit-undefined.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { buildUsageScopeQuery, type UsageScopeOptions } from '../../options/usage-scope-options.js';
import {
  formatBar,
  formatCents,
  formatCount,
  formatDuration,
  formatPercent,
} from '../../terminal/format-numbers-and-times.js';

const BAR_WIDTH_COLUMNS = 20;

export function registerUsageSeriesCommand(group: Command, { begin }: ProgramInterface): void {
  group
    .command('series')
    .description('report usage over time')
    .addOption(new Option('--interval <interval>', 'hours or days').choices(['hour', 'day']))
    .action(async ({ interval }: { readonly interval?: 'hour' | 'day' }) => {
      const run = begin();
      const query = {
        ...(await buildUsageScopeQuery(run, group.opts<UsageScopeOptions>())),
        ...omitUndefined({ interval }),
      };
      const answer = await (await run.getClient()).get('/v1/usage/timeseries', { params: { query } });
      const most = Math.max(...answer.timeseries.map(({ costCents }) => costCents), Number.EPSILON);
      const bars = {
        title: '',
        cell: (row: { costCents: number }) => formatBar(row.costCents / most, BAR_WIDTH_COLUMNS),
      };
      run.printResult(answer, () =>
        run.printTable(
          [
            { title: 'FROM (UTC)', cell: ({ bucket }) => bucket },
            { title: 'SPEND', cell: ({ costCents }) => formatCents(costCents), alignRight: true },
            ...(run.terminal.stdout.isTTY === true ? [bars] : []),
            { title: 'CALLS', cell: ({ requests }) => formatCount(requests), alignRight: true },
            { title: 'ERRORS', cell: ({ errors }) => formatCount(errors), alignRight: true },
            { title: 'REJECTED', cell: ({ rejectedRequests }) => formatCount(rejectedRequests), alignRight: true },
            { title: 'LATENCY', cell: ({ avgLatency }) => formatDuration(avgLatency), alignRight: true },
          ],
          answer.timeseries,
        ),
      );
    });
}

export function registerUsageCompareCommand(group: Command, { begin }: ProgramInterface): void {
  group
    .command('compare')
    .description('compare agents side by side')
    .argument('<agents...>', 'two or more; name, slug or id')
    .action(async (agents: readonly string[]) => {
      const run = begin();
      const ids: string[] = [];
      for (const agent of agents) ids.push(await findAgentId(run, agent));
      const { period, start, end } = group.opts<UsageScopeOptions>();
      const query = { agentIds: ids.join(','), ...omitUndefined({ period, start, end }) };
      const answer = await (await run.getClient()).get('/v1/usage/agents/compare', { params: { query } });
      run.printResult(answer, () =>
        run.printTable(
          [
            { title: 'AGENT', cell: ({ agentName }) => agentName },
            { title: 'SPEND', cell: ({ costUsd }) => formatCents(costUsd * 100), alignRight: true },
            { title: 'CALLS', cell: ({ totalRequests }) => formatCount(totalRequests), alignRight: true },
            {
              title: 'ERRORS',
              cell: (row) => (row.totalRequests === 0 ? '–' : formatPercent(row.errorRate)),
              alignRight: true,
            },
            { title: 'P95', cell: ({ p95Latency }) => formatDuration(p95Latency), alignRight: true },
            { title: 'REJECTED', cell: ({ rejectedRequests }) => formatCount(rejectedRequests), alignRight: true },
          ],
          answer.agents,
        ),
      );
    });
}
