/** The event that carries rejected calls to webhook endpoints, as sums with one call of each (docs/webhooks.md#rejected-calls). */
import { NIL_UUID } from '@acg/base/uuid-patterns';
import { type Static, Type } from 'typebox';
import { defineEvent } from './define-event.js';
import { ClosedObject, Id } from './event-fields.js';

const TextOrNull = Type.Union([Type.String(), Type.Null()]);
const Minute = Type.String({ description: 'Start of a minute, ISO 8601.' });

const schema = ClosedObject({
  orgId: Id,
  firstMinute: Minute,
  lastMinute: Minute,
  count: Type.Integer({ minimum: 1, description: 'Rejected calls, with those that `rejections` leaves out.' }),
  omitted: Type.Integer({ minimum: 0, description: 'Rejected calls that `rejections` leaves out.' }),
  rejections: Type.Array(
    ClosedObject({
      agentId: Id,
      agentName: TextOrNull,
      providerSlug: Type.Union([Type.String(), Type.Null()], {
        description: 'Null: rejected before the provider was known.',
      }),
      reason: Type.String(),
      count: Type.Integer({ minimum: 1 }),
      firstMinute: Minute,
      lastMinute: Minute,
      lastCall: Type.Union([
        ClosedObject({
          id: Id,
          rejectedAt: Type.String(),
          keyId: Id,
          status: Type.Integer(),
          method: Type.String(),
          path: Type.String({ description: 'Without the query.' }),
          model: TextOrNull,
          tool: TextOrNull,
          clientNetwork: Type.String(),
          budgetId: TextOrNull,
        }),
        Type.Null(),
      ]),
    }),
    { maxItems: 50, description: 'One for each agent, provider and reason, the highest count first.' },
  ),
});

const sample: Static<typeof schema> = {
  orgId: NIL_UUID,
  firstMinute: '2026-11-22T16:51:00.000Z',
  lastMinute: '2026-11-22T16:52:00.000Z',
  count: 1200,
  omitted: 0,
  rejections: [
    {
      agentId: NIL_UUID,
      agentName: 'Sample agent',
      providerSlug: 'openai',
      reason: 'rpm',
      count: 1200,
      firstMinute: '2026-11-22T16:51:00.000Z',
      lastMinute: '2026-11-22T16:52:00.000Z',
      lastCall: {
        id: NIL_UUID,
        rejectedAt: '2026-11-22T16:52:54.000Z',
        keyId: NIL_UUID,
        status: 429,
        method: 'POST',
        path: '/v1/chat/completions',
        model: 'gpt-5-mini',
        tool: null,
        clientNetwork: '203.0.113.7',
        budgetId: null,
      },
    },
  ],
};

export const REJECTED_CALLS_EVENT_TYPE = defineEvent({
  title: 'Calls rejected',
  description:
    'The gateway has rejected calls of agents. Sent at most once a minute, with counts and the last call of each agent, provider and reason. Only webhooks receive it, and only admins see its payload: it is in no list of events, and is not mailed.',
  severity: 'info',
  webhooksOnly: true,
  schema,
  sample,
  mailedFields: [],
});
