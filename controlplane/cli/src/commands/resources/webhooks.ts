/** `acg webhooks`: manages webhook endpoints. */

import { fetchAllRows } from '../../api/call-api-operation.js';
import { graceSecondsField } from '../../options/expiry-and-grace-fields.js';
import { choiceField, type Field, mapField, parsedField, requiredField, textField } from '../../options/field.js';
import { parseList } from '../../options/page-options-and-value-parsers.js';
import { formatMinute } from '../../terminal/format-numbers-and-times.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';
import { type EventName, WEBHOOK } from './find-webhook-by-url-or-id.js';
import { registerWebhookDeliveryCommands } from './webhook-deliveries.js';

// The API validates the names of events and lists the valid ones.
const eventsField = (help: string): Field<EventName[]> =>
  parsedField('--events <events>', help, (text) => parseList(text) as EventName[]);

interface EndpointState {
  readonly status: string;
  readonly pausedReason: string | null;
  readonly failingSince: string | null;
}

function formatStatus({ status, pausedReason, failingSince }: EndpointState): string {
  if (pausedReason !== null) return `${status}: ${pausedReason}`;
  return failingSince === null ? status : `${status}: failing since ${formatMinute(failingSince)}`;
}

const formatRecent = ({ recent }: { readonly recent: { readonly delivered: number; readonly failed: number } }) =>
  `${recent.failed} of ${recent.delivered + recent.failed}`;

export const registerWebhookCommands = commandGroup(
  listCommand({
    description: 'list webhook endpoints',
    operation: 'GET /v1/webhooks',
    rows: 'endpoints',
    columns: [
      { title: 'URL', cell: ({ url }) => url },
      { title: 'EVENTS', cell: ({ events }) => events.join(' ') },
      { title: 'STATUS', cell: formatStatus },
      { title: 'FAILED', cell: formatRecent, alignRight: true },
      { title: 'KIND', cell: ({ kind }) => kind },
      { title: 'ID', cell: ({ id }) => id, toCopy: true },
    ],
  }),
  operationCommand({
    name: 'get',
    description: 'show a webhook endpoint',
    operation: 'GET /v1/webhooks/{id}',
    target: WEBHOOK,
    print: (run, { endpoint }) =>
      run.printFields({
        url: endpoint.url,
        id: endpoint.id,
        events: endpoint.events.join(' '),
        kind: endpoint.kind,
        status: formatStatus(endpoint),
        'failed of the newest': formatRecent(endpoint),
        'old secret signs until': endpoint.previousSecretUntil,
        created: endpoint.createdAt,
      }),
  }),
  operationCommand({
    name: 'add',
    description: 'add a webhook endpoint; prints only its signing secret, once, on stdout',
    operation: 'POST /v1/webhooks',
    fields: {
      url: textField('<target>', 'URL of the receiver'),
      events: requiredField(eventsField('events to send, e.g. usage.threshold,agent.budget_exceeded')),
      kind: choiceField('--kind <kind>', 'what the receiver reads; webhook, if left out', [
        'webhook',
        'slack',
        'teams',
      ]),
    },
    print: (run, { endpoint }) => run.printLine(endpoint.secret),
    async after(run, { endpoint: { id, url } }) {
      run.printNote(`shown once; try it: acg webhooks test ${id}`);
      const endpoints = await fetchAllRows(await run.getClient(), 'GET /v1/webhooks', 'endpoints');
      const same = endpoints.filter((other) => other.url === url && other.id !== id);
      if (same.length > 0)
        run.printNote(
          `each event is now sent twice: ${same[0]!.id} has the same URL; acg webhooks rm ${id} deletes this one`,
        );
    },
  }),
  operationCommand({
    name: 'set',
    description: 'change a webhook endpoint',
    operation: 'PATCH /v1/webhooks/{id}',
    target: WEBHOOK,
    fields: {
      url: textField('--target <url>', 'URL of the receiver'),
      events: eventsField('events to send'),
      status: choiceField('--status <status>', 'whether anything is sent', ['active', 'paused']),
    },
    print: (run, { endpoint }) => run.printSuccess(endpoint.url),
  }),
  operationCommand({
    name: 'rm',
    description: 'delete a webhook endpoint',
    operation: 'DELETE /v1/webhooks/{id}',
    target: WEBHOOK,
    confirm: ({ text, at }) => `Delete the webhook ${text} ${at}?`,
    print: (run, _response, { text }) => run.printSuccess(`${text} is deleted`),
  }),
  operationCommand({
    name: 'test',
    description: 'send a sample event',
    operation: 'POST /v1/webhooks/{id}/test',
    target: WEBHOOK,
    fields: {
      event: mapField(
        textField('--event <name>', 'which; the first of its own, if left out'),
        (name) => name as EventName,
      ),
    },
    print: (run, { delivery }) =>
      run.printSuccess(`${delivery.event} is on its way: acg webhooks delivery ${delivery.id}`),
  }),
  operationCommand({
    name: 'rotate',
    description:
      'rotate the signing secret; prints only the new secret, once, on stdout. Both secrets sign during the overlap',
    operation: 'POST /v1/webhooks/{id}/rotate',
    target: WEBHOOK,
    fields: { graceSeconds: graceSecondsField('how long the old one signs on, at most 7d, or 0; 24h, if left out') },
    print: (run, { endpoint }) => run.printLine(endpoint.secret),
    after: (run, { endpoint: { previousSecretUntil } }) =>
      run.printNote(
        previousSecretUntil === null
          ? 'shown once; the old secret signs no more'
          : `shown once; both secrets sign until ${formatMinute(previousSecretUntil)} UTC`,
      ),
  }),
  registerWebhookDeliveryCommands,
);
