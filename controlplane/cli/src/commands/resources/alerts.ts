/** `acg alerts`: lists the alerts of alert rules, acknowledges and silences them. */
import { choiceField, mapField, requiredField, textField } from '../../options/field.js';
import { parseDuration } from '../../options/parse-duration.js';
import { formatAgo, formatMinute } from '../../terminal/format-numbers-and-times.js';
import { idTarget } from '../descriptors/operation-target-from-arguments.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';
import { formatMeasure } from './alert-rules.js';

const ALERT = idTarget('<alert>', 'id of the alert');

export const registerAlertCommands = commandGroup(
  listCommand({
    description: 'list alerts, newest first',
    operation: 'GET /v1/alerts',
    rows: 'alerts',
    filters: { state: choiceField('--state <state>', 'only alerts in this state', ['open', 'resolved']) },
    columns: [
      { title: 'RULE', cell: ({ ruleName }) => ruleName },
      { title: 'OF', cell: ({ scopeName }) => scopeName },
      { title: 'VALUE', cell: ({ metric, value }) => formatMeasure(metric, value) },
      { title: 'LAST WEEK', cell: ({ metric, baseline }) => formatMeasure(metric, baseline) },
      { title: 'STATE', cell: ({ state }) => state },
      { title: 'OPENED', cell: ({ openedAt }) => formatAgo(openedAt, Date.now()) },
      { title: 'ID', cell: ({ id }) => id, toCopy: true },
    ],
  }),
  operationCommand({
    name: 'ack',
    description: 'acknowledge an open alert',
    operation: 'POST /v1/alerts/{id}/acknowledge',
    target: ALERT,
    print: (run, { alert }) => run.printSuccess(`${alert.ruleName} is acknowledged`),
  }),
  operationCommand({
    name: 'silence',
    description: 'send no alert.opened of its rule for a while',
    operation: 'POST /v1/alerts/{id}/silence',
    target: ALERT,
    fields: {
      until: requiredField(
        mapField(textField('--for <span>', 'for how long, e.g. 4h; at most 30d'), (span) =>
          new Date(Date.now() + parseDuration(span, '--for')).toISOString(),
        ),
      ),
    },
    print: (run, { alert }) =>
      run.printSuccess(`${alert.ruleName} is silent until ${formatMinute(alert.silencedUntil)}`),
  }),
);
