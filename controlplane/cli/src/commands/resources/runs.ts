/** `acg runs`: lists, shows, starts and ends runs, which are tasks with a hard budget and an end. */
import { MINUTE_MS } from '@acg/base/time-and-money-units';
import { choiceField, defaultField, mapField, requiredField, textField } from '../../options/field.js';
import { agentIdField } from '../../options/lookup-fields.js';
import { parseDollarsAsCents } from '../../options/page-options-and-value-parsers.js';
import { parseDuration } from '../../options/parse-duration.js';
import { formatCents, formatMinute } from '../../terminal/format-numbers-and-times.js';
import { idTarget } from '../descriptors/operation-target-from-arguments.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

/** The API counts up to this. */
const SUB_RUNS_COUNTED_MAX = 1_000;
const RUN = idTarget('<run>', 'id of the run');

export const registerRunsCommands = commandGroup(
  listCommand({
    description: 'list top runs, or the runs of a tree',
    operation: 'GET /v1/runs',
    rows: 'runs',
    inProject: true,
    filters: {
      agentId: agentIdField('only those of one agent'),
      state: choiceField('--state <state>', 'only those', ['running', 'ended', 'expired']),
      rootId: textField('--tree <run>', 'all runs of the tree of this top run'),
      parentId: textField('--parent <run>', 'only the sub-runs of this run'),
      search: textField('--search <text>', 'part of the label'),
    },
    columns: [
      { title: 'LABEL', cell: ({ label, depth }) => `${'  '.repeat(depth - 1)}${label === '' ? '–' : label}` },
      { title: 'AGENT', cell: ({ agentName }) => agentName },
      { title: 'STATE', cell: ({ state }) => state },
      { title: 'SPENT', cell: ({ spentUsd }) => formatCents(spentUsd * 100) },
      { title: 'BUDGET', cell: ({ budgetCents }) => formatCents(budgetCents) },
      { title: 'CALLS', cell: ({ calls }) => String(calls) },
      { title: 'ENDS (UTC)', cell: ({ endedAt, expiresAt }) => formatMinute(endedAt ?? expiresAt) },
      { title: 'ID', cell: ({ id }) => id, toCopy: true },
    ],
  }),
  operationCommand({
    name: 'show',
    description: 'show a run: spend, calls, end and sub-runs',
    operation: 'GET /v1/runs/{id}',
    target: RUN,
    print: (run, { run: one }) => {
      run.printLine(`${one.label === '' ? one.id : one.label}: ${one.state}, agent ${one.agentName}`);
      run.printLine(
        `spent ${formatCents(one.spentUsd * 100)} of ${formatCents(one.budgetCents)} in ${one.calls} calls`,
      );
      run.printLine(
        `level ${one.depth}, ${one.subRuns < SUB_RUNS_COUNTED_MAX ? '' : 'at least '}${one.subRuns} sub-runs, ends ${formatMinute(one.endedAt ?? one.expiresAt)} UTC`,
      );
    },
  }),
  operationCommand({
    name: 'start',
    description: 'start a run; prints only its gateway token, once, on stdout',
    operation: 'POST /v1/runs',
    fields: {
      agentId: requiredField(agentIdField('whose calls it makes')),
      budgetCents: requiredField(
        mapField(textField('--budget <usd>', 'what the run and its sub-runs may spend'), parseDollarsAsCents),
      ),
      expiresIn: mapField(defaultField(textField('--for <span>', 'when it ends by itself, 1m to 30d'), '1h'), (span) =>
        Math.ceil((parseDuration(span, '--for') / MINUTE_MS) * 60),
      ),
      label: textField('--label <text>', 'what it is for'),
    },
    print: (run, { secretKey }) => run.printLine(secretKey),
    after: (run, { run: one, boundBy }) => {
      if (boundBy !== null)
        run.printNote(`only ${formatCents(boundBy.remainingCents)} is left of the budget of the ${boundBy.scope}`);
      run.printNote(`shown once; ends ${formatMinute(one.expiresAt)} UTC; end it before: acg runs end ${one.id}`);
    },
  }),
  operationCommand({
    name: 'end',
    description: 'end a run, its sub-runs and their calls in progress',
    operation: 'DELETE /v1/runs/{id}',
    target: RUN,
    confirm: ({ text, at }) => `End the run ${text} and its sub-runs ${at}?`,
    print: (run, { run: one }) => run.printSuccess(`${one.id} has ended: ${formatCents(one.spentUsd * 100)} spent`),
  }),
);
