/** `acg usage series` and `acg usage compare`: usage over time, and agents side by side. */
import { type Command, Option } from 'commander';
import { findAgentId } from '../../api/find-agent.js';
import { omitUndefined } from '../../api/omit-undefined.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { buildUsageScopeQuery, type UsageScopeOptions } from '../../options/usage-scope-options.js';
import { usage } from '../../terminal/cli-error.js';
import {
  formatBar,
  formatCents,
  formatCount,
  formatDuration,
  formatOrDash,
  formatPercent,
} from '../../terminal/format-numbers-and-times.js';

const BAR_WIDTH_COLUMNS = 20;

interface UsageGroupOptions extends UsageScopeOptions {
  readonly by?: string;
  readonly key?: string;
}

/** A figure that does not exist for a group is null. */
interface SeriesRow {
  readonly bucket: string;
  readonly group?: string;
  readonly costCents: number | null;
  readonly requests: number | null;
  readonly errors: number | null;
  readonly rejectedRequests: number | null;
  readonly avgLatency: number | null;
}

export function registerUsageSeriesCommand(group: Command, { begin }: ProgramInterface): void {
  group
    .command('series')
    .description('report usage over time')
    .addOption(new Option('--interval <interval>', 'hours or days').choices(['hour', 'day']))
    .action(async ({ interval }: { readonly interval?: 'hour' | 'day' }) => {
      const run = begin();
      const options = group.opts<UsageGroupOptions>();
      const query = {
        ...(await buildUsageScopeQuery(run, options)),
        ...omitUndefined({ interval, groupBy: options.by, keyId: options.key }),
      };
      const answer = await (await run.getClient()).get('/v1/usage/timeseries', { params: { query } });
      const rows: readonly SeriesRow[] =
        answer.groups?.flatMap(({ name, value, timeseries }) =>
          timeseries.map((point) => ({ ...point, group: name ?? (value || 'not known') })),
        ) ?? answer.timeseries;
      const most = Math.max(...rows.map(({ costCents }) => costCents ?? 0), Number.EPSILON);
      const bars = {
        title: '',
        cell: (row: SeriesRow) => formatBar((row.costCents ?? 0) / most, BAR_WIDTH_COLUMNS),
      };
      const groups = { title: options.by?.toUpperCase() ?? '', cell: (row: SeriesRow) => row.group ?? '' };
      run.printResult(answer, () =>
        run.printTable(
          [
            { title: 'FROM (UTC)', cell: ({ bucket }) => bucket },
            ...(options.by === undefined ? [] : [groups]),
            { title: 'SPEND', cell: ({ costCents }) => formatOrDash(costCents, formatCents), alignRight: true },
            ...(run.terminal.stdout.isTTY === true ? [bars] : []),
            { title: 'CALLS', cell: ({ requests }) => formatOrDash(requests, formatCount), alignRight: true },
            { title: 'ERRORS', cell: ({ errors }) => formatOrDash(errors, formatCount), alignRight: true },
            {
              title: 'REJECTED',
              cell: ({ rejectedRequests }) => formatOrDash(rejectedRequests, formatCount),
              alignRight: true,
            },
            { title: 'LATENCY', cell: ({ avgLatency }) => formatOrDash(avgLatency, formatDuration), alignRight: true },
          ],
          rows,
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
      const { agent, by, period, start, end } = group.opts<UsageGroupOptions>();
      if (agent !== undefined || by !== undefined)
        throw usage('usage compare takes agents as arguments, and neither --agent nor --by');
      const query = { agentIds: ids.join(','), ...omitUndefined({ period, start, end }) };
      const answer = await (await run.getClient()).get('/v1/usage/agents/compare', { params: { query } });
      run.printResult(answer, () =>
        run.printTable(
          [
            // Names need not be unique: the argument is what the user called the agent.
            { title: 'AGENT', cell: ({ agentId, agentName }) => agents[ids.indexOf(agentId)] ?? agentName },
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
