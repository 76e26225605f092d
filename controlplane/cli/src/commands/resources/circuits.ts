/** `acg circuits`: lists the circuit breakers of the organization's origins; closes one or holds it open. */
import { MINUTE_MS } from '@acg/base/time-and-money-units';
import { choiceField, defaultField, mapField, textField } from '../../options/field.js';
import { parseDuration } from '../../options/parse-duration.js';
import { formatAgo, formatMinute } from '../../terminal/format-numbers-and-times.js';
import { groupList } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

const createOverrideFields = () => ({
  providerSlug: textField('<provider>', 'slug of the provider'),
  origin: textField('--origin <origin>', 'where the organization has accounts at several origins of the provider'),
});

export const registerCircuitCommand = commandGroup(
  groupList({
    operation: 'GET /v1/circuits',
    rows: 'circuits',
    filters: {
      state: mapField(
        choiceField('--state <state>', 'only those', ['closed', 'open', 'half_open']),
        (state) => state.toUpperCase() as Uppercase<typeof state>,
      ),
    },
    columns: [
      { title: 'PROVIDER', cell: ({ providerSlug }) => providerSlug },
      { title: 'ORIGIN', cell: ({ origin }) => origin },
      { title: 'STATE', cell: ({ state }) => state },
      { title: 'REASON', cell: ({ reason }) => reason ?? '–' },
      { title: 'SINCE', cell: ({ since }) => formatAgo(since, Date.now()) },
      { title: 'NEXT PROBE (UTC)', cell: ({ nextProbeAt }) => formatMinute(nextProbeAt) },
    ],
  }),
  operationCommand({
    name: 'close',
    description: 'let calls to a provider pass again',
    operation: 'PUT /v1/circuits',
    fields: createOverrideFields(),
    body: () => ({ state: 'CLOSED' as const }),
    print: (run, { circuit }) => run.printSuccess(`calls to ${circuit.origin} pass`),
  }),
  operationCommand({
    name: 'hold',
    description: 'reject the calls of the organization to a provider for some time',
    operation: 'PUT /v1/circuits',
    fields: {
      ...createOverrideFields(),
      holdMinutes: mapField(defaultField(textField('--for <span>', 'at most 24h'), '1h'), (span) =>
        Math.ceil(parseDuration(span, '--for') / MINUTE_MS),
      ),
    },
    confirm: ({ text, options, at }) => `Refuse all calls of the organization to ${text} ${at} for ${options.for}?`,
    body: () => ({ state: 'OPEN' as const }),
    print: (run, { circuit: { origin, nextProbeAt } }) =>
      run.printSuccess(`calls to ${origin} are rejected until ${formatMinute(nextProbeAt)} UTC`),
  }),
);
