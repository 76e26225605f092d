/** `acg usage`: reports calls and costs. */
import { rejectionAdvice } from '@acg/base/rejection-reasons';
import { type Command, Option } from 'commander';
import type { Invocation } from '../../invocation/invocation.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import {
  addPageOptions,
  type PageOptions,
  printRemainingRows,
  toPageQuery,
} from '../../options/page-options-and-value-parsers.js';
import {
  addUsageScopeOptions,
  buildUsageScopeQuery,
  byOption,
  DIMENSIONS,
  type UsageScopeOptions,
} from '../../options/usage-scope-options.js';
import { usage } from '../../terminal/cli-error.js';
import {
  formatBar,
  formatCents,
  formatCount,
  formatDuration,
  formatMinute,
  formatOrDash,
  formatPercent,
} from '../../terminal/format-numbers-and-times.js';
import { registerUsageExportCommand } from './usage-export-of-calls.js';
import { registerUsageCompareCommand, registerUsageSeriesCommand } from './usage-series-and-compare.js';

const isSecond = (name: (typeof DIMENSIONS)[number]) => name !== 'status' && name !== 'reason';
type SecondDimension = Exclude<(typeof DIMENSIONS)[number], 'status' | 'reason'>;
const SECOND_DIMENSIONS = DIMENSIONS.filter(isSecond);

interface UsageOptions extends UsageScopeOptions, PageOptions {
  readonly by?: string;
  readonly thenBy?: SecondDimension;
  readonly compare?: boolean;
  readonly key?: string;
}

export function registerUsageCommands(group: Command, tree: ProgramInterface): void {
  addPageOptions(addUsageScopeOptions(group))
    .addOption(byOption())
    .addOption(new Option('--then-by <what>', 'and by a second one, with --by').choices(SECOND_DIMENSIONS))
    .option('--key <id>', 'only calls with this gateway token, with --by, in series and export')
    .option('--compare', 'with the change from the previous period, with --by')
    .action(async (options: UsageOptions) => {
      const run = tree.begin();
      if (options.by === undefined && options.key !== undefined)
        throw usage('--key is for breakdowns, series and exports', 'add --by, e.g. --by model');
      if (options.by === undefined) await printSummary(run, options);
      else await printBreakdown(run, options, options.by);
    });
  group
    .command('refusals')
    .description('report requests that the gateway rejected, by reason')
    .action(async () => {
      const run = tree.begin();
      const query = await buildUsageScopeQuery(run, group.opts<UsageScopeOptions>());
      const answer = await (await run.getClient()).get('/v1/usage/refusals', { params: { query } });
      run.printResult(answer, () =>
        run.printTable(
          [
            { title: 'REASON', cell: ({ reason }) => reason },
            { title: 'CALLS', cell: (row) => formatCount(row.count), alignRight: true },
            { title: 'CAUSE', cell: ({ reason }) => rejectionAdvice(reason).cause },
          ],
          answer.refusals,
        ),
      );
    });
  registerUsageSeriesCommand(group, tree);
  registerUsageCompareCommand(group, tree);
  registerUsageExportCommand(group, tree);
}

async function printSummary(run: Invocation, options: UsageScopeOptions): Promise<void> {
  const query = await buildUsageScopeQuery(run, options);
  const answer = await (await run.getClient()).get('/v1/usage/summary', { params: { query } });
  run.printResult(answer, () =>
    run.printFields({
      from: `${formatMinute(answer.from)} UTC`,
      to: `${formatMinute(answer.to)} UTC`,
      spend: formatCents(answer.costCents),
      calls: formatCount(answer.requests),
      errors: answer.requests === 0 ? '–' : formatPercent(answer.errorRate),
      rejected: formatCount(answer.rejectedRequests),
      tokens: `${formatCount(answer.tokensIn)} in, ${formatCount(answer.tokensOut)} out`,
      latency: `p50 ${formatDuration(answer.p50Latency)}, p95 ${formatDuration(answer.p95Latency)}`,
    }),
  );
}

const BAR_WIDTH_COLUMNS = 20;

async function printBreakdown(run: Invocation, options: UsageOptions, by: string): Promise<void> {
  const query = { ...(await buildUsageScopeQuery(run, options)), by, ...toPageQuery(options) };
  const { thenBy, compare, key } = options;
  const extra = {
    ...(key === undefined ? {} : { keyId: key }),
    ...(thenBy === undefined ? {} : { thenBy }),
    ...(compare === true ? { compare: 'previous' as const } : {}),
  };
  const answer = await (await run.getClient()).get('/v1/usage/breakdown', {
    params: { query: { ...query, ...extra } },
  });
  const most = Math.max(...answer.rows.map(({ costCents }) => costCents ?? 0), Number.EPSILON);
  run.printResult(answer, () =>
    run.printTable(
      [
        { title: by.toUpperCase(), cell: ({ name, value }) => name ?? (value === '' ? 'not known' : value) },
        ...(thenBy === undefined
          ? []
          : [
              {
                title: thenBy.toUpperCase(),
                cell: ({ thenName = null, thenValue = '' }: { thenName?: string | null; thenValue?: string }) =>
                  thenName ?? (thenValue === '' ? 'not known' : thenValue),
              },
            ]),
        { title: 'SPEND', cell: ({ costCents }) => formatOrDash(costCents, formatCents), alignRight: true },
        ...(compare === true
          ? [
              {
                title: 'BEFORE',
                cell: ({ previous }: { previous?: { costCents: number } | undefined }) =>
                  formatOrDash(previous?.costCents ?? null, formatCents),
                alignRight: true,
              },
            ]
          : []),
        ...(run.terminal.stdout.isTTY === true
          ? [
              {
                title: '',
                cell: (row: { costCents: number | null }) => formatBar((row.costCents ?? 0) / most, BAR_WIDTH_COLUMNS),
              },
            ]
          : []),
        { title: 'CALLS', cell: ({ requests }) => formatOrDash(requests, formatCount), alignRight: true },
        {
          title: 'ERRORS',
          cell: ({ errors, requests }) =>
            errors === null || !requests ? '–' : formatPercent((errors / requests) * 100),
          alignRight: true,
        },
        {
          title: 'REJECTED',
          cell: ({ rejectedRequests }) => formatOrDash(rejectedRequests, formatCount),
          alignRight: true,
        },
        { title: 'TOKENS IN', cell: ({ tokensIn }) => formatOrDash(tokensIn, formatCount), alignRight: true },
        { title: 'TOKENS OUT', cell: ({ tokensOut }) => formatOrDash(tokensOut, formatCount), alignRight: true },
        { title: 'LATENCY', cell: ({ avgLatency }) => formatOrDash(avgLatency, formatDuration), alignRight: true },
      ],
      answer.rows,
    ),
  );
  printRemainingRows(run, answer.rows.length, answer);
}
