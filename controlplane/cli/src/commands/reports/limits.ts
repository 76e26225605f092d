/** `acg limits replay`: what limits would have done to recorded calls. */
import { BUDGET_WINDOWS, type BudgetWindow } from '@acg/base/budget-rows';
import { DAY_MS } from '@acg/base/time-and-money-units';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { BodyOf } from '../../api/call-api-operation.js';
import { findAgentId } from '../../api/find-agent.js';
import { omitUndefined } from '../../api/omit-undefined.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { parseDollarsAsCents, parseWholeNumber } from '../../options/page-options-and-value-parsers.js';
import { usage } from '../../terminal/cli-error.js';
import { formatBar, formatCents, formatCount, formatMinute } from '../../terminal/format-numbers-and-times.js';

type Budget = NonNullable<BodyOf<'POST /v1/limits/replay'>['limits']['budgets']>[number];

interface ReplayOptions {
  readonly rpm?: number;
  readonly rpd?: number;
  readonly tpm?: number;
  readonly budget?: readonly Budget[];
  readonly from?: string;
  readonly to?: string;
  readonly days: number;
  readonly shared?: true;
}

const BAR_WIDTH_COLUMNS = 30;

/** Parses `day=5`, `month=50.00:gpt-5*` with models after the colon. */
function parseBudget(text: string, before: readonly Budget[] = []): readonly Budget[] {
  const match = /^([a-z]+)=([\d.]+)(?::(.+))?$/.exec(text);
  const window = BUDGET_WINDOWS.find((one) => one === match?.[1]) as BudgetWindow | undefined;
  if (match === null || window === undefined)
    throw new InvalidArgumentError(`It must be WINDOW=USD, e.g. day=5, with a window of ${BUDGET_WINDOWS.join(', ')}.`);
  const models = match[3]?.split(',');
  return [...before, { window, cents: parseDollarsAsCents(match[2]!), ...(models === undefined ? {} : { models }) }];
}

export function registerLimitCommands(group: Command, { begin }: ProgramInterface): void {
  group
    .command('replay')
    .description('report what limits would have rejected of recorded calls')
    .argument('<agents...>', 'names, slugs or ids')
    .option('--rpm <n>', 'requests per minute', parseWholeNumber)
    .option('--rpd <n>', 'requests per day', parseWholeNumber)
    .option('--tpm <n>', 'tokens per minute', parseWholeNumber)
    .option('--budget <window=usd>', 'a budget, e.g. day=5 or week=20:gpt-5*; repeatable', parseBudget)
    .addOption(new Option('--days <n>', 'the last days').argParser(parseWholeNumber).default(7))
    .option('--from <time>', 'ISO 8601, instead of --days')
    .option('--to <time>', 'ISO 8601; now, if left out')
    .option('--shared', 'each budget counts all these agents together')
    .action(async (agents: readonly string[], options: ReplayOptions) => {
      const run = begin();
      const { rpm, rpd, tpm, budget } = options;
      if ([rpm, rpd, tpm, budget].every((limit) => limit === undefined))
        throw usage('state a limit: --rpm, --rpd, --tpm or --budget');
      const agentIds: string[] = [];
      for (const agent of agents) agentIds.push(await findAgentId(run, agent));
      const toMs = options.to === undefined ? Date.now() : Date.parse(options.to);
      if (Number.isNaN(toMs)) throw usage(`--to is no time: ${options.to}`);
      const body: BodyOf<'POST /v1/limits/replay'> = {
        agentIds,
        from: options.from ?? new Date(toMs - options.days * DAY_MS).toISOString(),
        to: new Date(toMs).toISOString(),
        limits: omitUndefined({
          rpmLimit: rpm,
          rpdLimit: rpd,
          tpmLimit: tpm,
          budgets: budget === undefined ? undefined : [...budget],
        }),
        ...(options.shared === true ? { sharedBudgets: true } : {}),
      };
      const answer = await (await run.getClient()).post('/v1/limits/replay', { body });
      run.printResult(answer, () => {
        run.printFields({
          calls: `${formatCount(answer.calls)}, ${formatCents(answer.costCents)}`,
          rejected: `${formatCount(answer.rejected)}, ${formatCents(answer.rejectedCents)}`,
          first: answer.firstRejectedAt === null ? 'none' : `${formatMinute(answer.firstRejectedAt)} UTC`,
          ...Object.fromEntries(
            answer.limits.map(({ limit, budgetIndex, rejected, rejectedCents }) => [
              budgetIndex === null ? limit : `budget per ${budget![budgetIndex]!.window}`,
              `${formatCount(rejected)} rejected, ${formatCents(rejectedCents)}`,
            ]),
          ),
        });
        const most = Math.max(1, ...answer.timeseries.map(({ calls }) => calls));
        run.printTable(
          [
            { title: answer.interval.toUpperCase(), cell: ({ bucket }) => bucket },
            { title: 'CALLS', cell: ({ calls }) => formatCount(calls), alignRight: true },
            { title: 'REJECTED', cell: ({ rejected }) => formatCount(rejected), alignRight: true },
            { title: '', cell: ({ rejected }) => formatBar(rejected / most, BAR_WIDTH_COLUMNS) },
          ],
          answer.timeseries.filter(({ calls }) => calls > 0),
        );
      });
      if (!answer.complete) run.printNote(`stopped at its bound: replayed until ${answer.replayedUntil}`);
      if (!run.isJson) for (const note of answer.notes) run.printNote(note);
    });
}
