/**
 * `acg budgets`: the budget rows of an agent (`--agent`), else of the project (`--project`), else of the organization. Each
 * change reads the list and sends it back with one row changed.
 */
import { BUDGET_ROW_MODES, BUDGET_WINDOWS, type BudgetRowMode, type BudgetWindow } from '@acg/base/budget-rows';
import { type Command, Option } from 'commander';
import type { BodyOf, ResponseOf } from '../../api/call-api-operation.js';
import { findAgentId } from '../../api/find-agent.js';
import { findProjectId } from '../../api/find-by-name.js';
import { fetchIdentity } from '../../api/identity.js';
import type { Invocation } from '../../invocation/invocation.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { appendValue, parseDollarsAsCents } from '../../options/page-options-and-value-parsers.js';
import { CliError, EXIT_CODES } from '../../terminal/cli-error.js';
import { formatCents, formatMinute } from '../../terminal/format-numbers-and-times.js';

type Row = ResponseOf<'GET /v1/agents/{id}'>['agent']['budgets'][number];
type RowInput = NonNullable<BodyOf<'PATCH /v1/agents/{id}'>['budgets']>[number];

interface ScopeOptions {
  readonly agent?: string;
}

interface RowOptions extends ScopeOptions {
  readonly window: BudgetWindow;
  readonly model?: readonly string[];
  readonly tag?: string;
  readonly mode?: BudgetRowMode;
}

/** The object with the budgets: its rows, and a way to replace them. */
interface BudgetScope {
  readonly rows: readonly Row[];
  replace(budgets: RowInput[]): Promise<readonly Row[]>;
}

async function loadScope(run: Invocation, { agent }: ScopeOptions): Promise<BudgetScope> {
  const client = await run.getClient();
  const { project } = run.settings;
  if (agent !== undefined) {
    const params = { path: { id: await findAgentId(run, agent) } };
    return {
      rows: (await client.get('/v1/agents/{id}', { params })).agent.budgets,
      replace: async (budgets) => (await client.patch('/v1/agents/{id}', { params, body: { budgets } })).agent.budgets,
    };
  }
  if (project !== null) {
    const params = { path: { id: await findProjectId(client, project) } };
    return {
      rows: (await client.get('/v1/projects/{id}', { params })).project.budgets,
      replace: async (budgets) =>
        (await client.patch('/v1/projects/{id}', { params, body: { budgets } })).project.budgets,
    };
  }
  const params = { path: { id: (await fetchIdentity(client)).orgId } };
  return {
    rows: (await client.get('/v1/orgs/{id}', { params })).org.budgets,
    replace: async (budgets) => (await client.patch('/v1/orgs/{id}', { params, body: { budgets } })).org.budgets,
  };
}

const isSameRow = (row: Row, { window, model = [], tag }: RowOptions): boolean =>
  row.window === window &&
  row.tag === tag &&
  JSON.stringify([...row.models].sort()) === JSON.stringify([...model].sort());

const toInput = ({ window, cents, models, tag, mode }: Row): RowInput => ({
  window,
  cents,
  mode,
  models,
  ...(tag === undefined ? {} : { tag }),
});

function printRows(run: Invocation, rows: readonly Row[]): void {
  run.printResult({ budgets: rows }, () =>
    run.printTable(
      [
        { title: 'WINDOW', cell: ({ window }) => window },
        { title: 'BUDGET', cell: ({ cents }) => formatCents(cents), alignRight: true },
        { title: 'SPENT', cell: ({ spentCents }) => formatCents(spentCents), alignRight: true },
        { title: 'MODE', cell: ({ mode }) => mode },
        { title: 'MODELS', cell: ({ models }) => models.join(', ') || 'all' },
        { title: 'TAG', cell: ({ tag }) => tag ?? '–' },
        { title: 'RESETS (UTC)', cell: ({ resetAt }) => (resetAt === null ? 'never' : formatMinute(resetAt)) },
      ],
      rows,
    ),
  );
}

const addRowOptions = (command: Command): Command =>
  command
    .option('--agent <agent>', 'of this agent; else of the project, else of the organization')
    .addOption(
      new Option('--window <window>', 'in UTC, a week from Monday').choices(BUDGET_WINDOWS).default('month' as const),
    )
    .option('--model <pattern>', 'only calls of this model; repeatable, * matches any characters', appendValue)
    .option('--tag <key=value>', 'only calls with this tag');

export function registerBudgetCommands(group: Command, { begin }: ProgramInterface): void {
  group
    .command('ls')
    .description('list the budgets of an agent, a project or the organization')
    .option('--agent <agent>', 'of this agent; else of the project, else of the organization')
    .action(async (options: ScopeOptions) => {
      const run = begin();
      printRows(run, (await loadScope(run, options)).rows);
    });
  addRowOptions(group.command('set').description('add a budget, or change the one of the same window, models and tag'))
    .argument('<usd>', 'US dollars per window', parseDollarsAsCents)
    .addOption(new Option('--mode <mode>', 'soft, if left out for a new one').choices(BUDGET_ROW_MODES))
    .action(async (cents: number, options: RowOptions) => {
      const run = begin();
      const scope = await loadScope(run, options);
      const { window, model, tag, mode } = options;
      const old = scope.rows.find((row) => isSameRow(row, options));
      const row: RowInput = {
        window,
        cents,
        mode: mode ?? old?.mode ?? 'soft',
        ...(model === undefined ? {} : { models: [...model] }),
        ...(tag === undefined ? {} : { tag }),
      };
      const rows = scope.rows.map((one) => (one === old ? row : toInput(one)));
      printRows(run, await scope.replace(old === undefined ? [...rows, row] : rows));
    });
  addRowOptions(group.command('rm').description('remove the budget of this window, models and tag')).action(
    async (options: RowOptions) => {
      const run = begin();
      const scope = await loadScope(run, options);
      const kept = scope.rows.filter((row) => !isSameRow(row, options));
      if (kept.length === scope.rows.length)
        throw new CliError(EXIT_CODES.notFound, 'there is no such budget', {
          hint: 'acg budgets ls lists window, models and tag of each',
        });
      printRows(run, await scope.replace(kept.map(toInput)));
    },
  );
}
