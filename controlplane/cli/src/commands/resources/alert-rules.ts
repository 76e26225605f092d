/** `acg alert-rules`: manages rules on error rate, latency and spend against last week. */
import { fetchAllRows, type RowOf } from '../../api/call-api-operation.js';
import { isUuid, selectByName } from '../../api/find-by-name.js';
import { choiceField, type Field, mapField, parsedField, requiredField, textField } from '../../options/field.js';
import { agentIdField, onlyProjectIdField } from '../../options/lookup-fields.js';
import { parseWholeNumber } from '../../options/page-options-and-value-parsers.js';
import { parseDuration } from '../../options/parse-duration.js';
import {
  formatAgo,
  formatCents,
  formatDuration,
  formatMinute,
  formatPercent,
} from '../../terminal/format-numbers-and-times.js';
import type { Target } from '../descriptors/operation-target-from-arguments.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

type AlertRule = RowOf<'GET /v1/alert-rules', 'rules'>;
type Metric = AlertRule['metric'];

const RULE = {
  argument: ['<rule>', 'id or name'],
  async find(run, text) {
    const client = await run.getClient();
    if (isUuid(text)) return (await client.get('/v1/alert-rules/{id}', { params: { path: { id: text } } })).rule;
    const rules = await fetchAllRows(client, 'GET /v1/alert-rules', 'rules');
    return selectByName(rules, text, 'alert rule', 'acg alert-rules ls');
  },
} as const satisfies Target<AlertRule>;

/** `–`: not enough calls. */
export function formatMeasure(metric: Metric, value: number | null): string {
  if (value === null) return '–';
  if (metric === 'error_rate') return formatPercent(value);
  return metric === 'latency' ? formatDuration(value) : formatCents(value);
}

const formatSilence = (until: string | null): string =>
  until === null || Date.parse(until) < Date.now() ? '' : `silent until ${formatMinute(until)}`;

function formatState({ enabled, openAlertId, failedAt, silencedUntil }: AlertRule): string {
  if (!enabled) return 'Disabled';
  const ok = openAlertId === null && failedAt === null ? 'OK' : '';
  const alert = openAlertId === null ? '' : 'Alerting';
  const failure = failedAt === null ? '' : 'Evaluation failed';
  return [ok, alert, failure, formatSilence(silencedUntil)].filter((part) => part !== '').join(', ');
}

const formatCondition = ({ metric, increasePercent, atLeast, windowHours }: AlertRule): string =>
  `${increasePercent} % over last week, from ${formatMeasure(metric, atLeast)}, in ${windowHours} h`;

const formatRule = (rule: AlertRule): string =>
  [
    `${rule.name}  ${rule.id}`,
    `  watches    ${rule.metric} of ${rule.scopeName} (${rule.scope})`,
    `  condition  ${formatCondition(rule)}`,
    `  state      ${formatState(rule)}`,
    `  now        ${formatMeasure(rule.metric, rule.value)}, last week ${formatMeasure(rule.metric, rule.baseline)}`,
    `  evaluated  ${formatAgo(rule.evaluatedAt, Date.now())}`,
  ].join('\n');

const silenceField: Field<string | null> = mapField(
  textField('--silence <span>', 'send no alert.opened for this long, at most 30d; none ends the silence'),
  (span) => (span === 'none' ? null : new Date(Date.now() + parseDuration(span, '--silence')).toISOString()),
);
const fields = {
  windowHours: parsedField('--hours <n>', 'how many hours are measured, 1 to 24', parseWholeNumber),
  increasePercent: parsedField('--increase <percent>', 'how much more than last week', parseWholeNumber),
};
const atLeastField = (): Field<number> =>
  parsedField('--at-least <n>', 'smallest value that counts: percent, milliseconds or US cents', Number);

export const registerAlertRuleCommands = commandGroup(
  listCommand({
    description: 'list alert rules with their last evaluation',
    operation: 'GET /v1/alert-rules',
    rows: 'rules',
    columns: [
      { title: 'RULE', cell: ({ name }) => name },
      { title: 'METRIC', cell: ({ metric }) => metric },
      { title: 'OF', cell: ({ scopeName }) => scopeName },
      { title: 'NOW', cell: ({ metric, value }) => formatMeasure(metric, value) },
      { title: 'LAST WEEK', cell: ({ metric, baseline }) => formatMeasure(metric, baseline) },
      { title: 'STATE', cell: formatState },
      { title: 'ID', cell: ({ id }) => id },
    ],
  }),
  operationCommand({
    name: 'create',
    description: 'watch the organization, a project or an agent',
    operation: 'POST /v1/alert-rules',
    fields: {
      name: requiredField(textField('--name <name>', 'what it is for')),
      metric: requiredField(choiceField('--metric <metric>', 'what it measures', ['error_rate', 'latency', 'spend'])),
      atLeast: requiredField(atLeastField()),
      agentId: agentIdField('only calls of this agent'),
      projectId: onlyProjectIdField('only calls of this project'),
      ...fields,
    },
    print: (run, { rule }) => run.printLine(formatRule(rule)),
  }),
  operationCommand({
    name: 'show',
    description: 'show its condition and its last evaluation',
    operation: 'GET /v1/alert-rules/{id}',
    target: RULE,
    print: (run, { rule }) => run.printLine(formatRule(rule)),
  }),
  operationCommand({
    name: 'set',
    description: 'change, disable or silence it',
    operation: 'PATCH /v1/alert-rules/{id}',
    target: RULE,
    fields: {
      name: textField('--name <name>', 'what it is for'),
      atLeast: atLeastField(),
      ...fields,
      enabled: mapField(
        choiceField('--enabled <yes-or-no>', 'no: it is not evaluated', ['yes', 'no']),
        (choice) => choice === 'yes',
      ),
      silencedUntil: silenceField,
    },
    print: (run, { rule }) => run.printLine(formatRule(rule)),
  }),
  operationCommand({
    name: 'rm',
    description: 'delete it and its alerts',
    operation: 'DELETE /v1/alert-rules/{id}',
    target: RULE,
    confirm: ({ found, at }) => `Delete the alert rule ${found.name} ${at}?`,
    print: (run, _response, { found }) => run.printSuccess(`${found.name} is deleted`),
  }),
);
