/** `acg usage`: what was called and what it cost. */
import { type Command, Option } from 'commander';
import { type ScopeOptions, scoped, scopeQuery } from '../api/scope.js';
import type { Invocation } from '../invocation/invocation.js';
import { bar, count, duration, minute, money, percent } from '../terminal/format.js';
import { noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';
import { exportCommand } from './usage-export.js';
import { compareCommand, seriesCommand } from './usage-series.js';

const DIMENSIONS = ['project', 'agent', 'provider', 'model', 'key', 'status', 'reason'] as const;
interface UsageOptions extends ScopeOptions, PageOptions {
  readonly by?: (typeof DIMENSIONS)[number];
}

export function usageCommands(group: Command, tree: Tree): void {
  paged(scoped(group))
    .addOption(new Option('--by <what>', 'broken down').choices(DIMENSIONS))
    .action(async (options: UsageOptions) => {
      const run = tree.begin();
      if (options.by === undefined) await showSummary(run, options);
      else await showBreakdown(run, options, options.by);
    });
  group
    .command('refusals')
    .description('what the gateway itself has refused, and why')
    .action(async () => {
      const run = tree.begin();
      const query = await scopeQuery(run, group.opts<ScopeOptions>());
      const answer = await (await run.client()).get('/v1/usage/refusals', { params: { query } });
      run.show(answer, () =>
        run.table(
          [
            { title: 'REASON', cell: ({ reason }) => reason },
            { title: 'CALLS', cell: (row) => count(row.count), right: true },
          ],
          answer.refusals,
        ),
      );
    });
  seriesCommand(group, tree);
  compareCommand(group, tree);
  exportCommand(group, tree);
}

async function showSummary(run: Invocation, options: ScopeOptions): Promise<void> {
  const query = await scopeQuery(run, options);
  const answer = await (await run.client()).get('/v1/usage/summary', { params: { query } });
  run.show(answer, () =>
    run.facts({
      from: `${minute(answer.from)} UTC`,
      to: `${minute(answer.to)} UTC`,
      spend: money(answer.costCents),
      calls: count(answer.requests),
      errors: answer.requests === 0 ? '–' : percent(answer.errorRate),
      refused: count(answer.rejectedRequests),
      tokens: `${count(answer.tokensIn)} in, ${count(answer.tokensOut)} out`,
      latency: `p50 ${duration(answer.p50Latency)}, p95 ${duration(answer.p95Latency)}`,
    }),
  );
}

/** Not every breakdown knows every figure. */
const known = (value: number | null, format: (value: number) => string): string =>
  value === null ? '–' : format(value);

const BAR_CELLS = 20;

async function showBreakdown(run: Invocation, options: UsageOptions, by: (typeof DIMENSIONS)[number]): Promise<void> {
  const query = { ...(await scopeQuery(run, options)), by, ...pageOf(options) };
  const answer = await (await run.client()).get('/v1/usage/breakdown', { params: { query } });
  const most = Math.max(...answer.rows.map(({ costCents }) => costCents ?? 0), Number.EPSILON);
  run.show(answer, () =>
    run.table(
      [
        { title: by.toUpperCase(), cell: ({ name, value }) => name ?? (value === '' ? 'not known' : value) },
        { title: 'SPEND', cell: ({ costCents }) => known(costCents, money), right: true },
        ...(run.terminal.stdout.isTTY === true
          ? [{ title: '', cell: (row: { costCents: number | null }) => bar((row.costCents ?? 0) / most, BAR_CELLS) }]
          : []),
        { title: 'CALLS', cell: ({ requests }) => known(requests, count), right: true },
        {
          title: 'ERRORS',
          cell: ({ errors, requests }) => (errors === null || !requests ? '–' : percent((errors / requests) * 100)),
          right: true,
        },
        { title: 'REFUSED', cell: ({ rejectedRequests }) => known(rejectedRequests, count), right: true },
        { title: 'TOKENS IN', cell: ({ tokensIn }) => known(tokensIn, count), right: true },
        { title: 'TOKENS OUT', cell: ({ tokensOut }) => known(tokensOut, count), right: true },
        { title: 'LATENCY', cell: ({ avgLatency }) => known(avgLatency, duration), right: true },
      ],
      answer.rows,
    ),
  );
  noteRest(run, answer.rows.length, answer);
}
