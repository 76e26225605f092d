import { Type } from 'typebox';
import { EXAMPLE_IDS, EXAMPLE_TIMES } from '../http/examples.js';
import { PageQuery, PageReply } from '../http/limit-offset-pagination.js';
import { Day, Timestamp, Uuid } from '../http/schema.js';
import { EVENT_SEVERITIES } from './define-event.js';
import { EVENT_NAMES, EVENT_TYPES, type EventName } from './event-catalogue.js';

export const EventNameField = Type.Unsafe<EventName>({ type: 'string', enum: EVENT_NAMES });

export const EventQuery = Type.Object({
  event: Type.Optional(EventNameField),
  agentId: Type.Optional(
    Type.String({ format: 'uuid', description: 'Events of this agent; the agent may have been deleted.' }),
  ),
  start: Type.Optional(Day),
  end: Type.Optional(Day),
  ...PageQuery,
});

const Event = Type.Object({
  id: Uuid,
  event: EventNameField,
  occurredAt: Timestamp,
  data: Type.Object(
    {},
    { additionalProperties: true, description: 'The same `data` that webhook deliveries contain.' },
  ),
});

export const EventList = Type.Object({ events: Type.Array(Event), ...PageReply });

const EventType = Type.Object({
  event: EventNameField,
  title: Type.String(),
  description: Type.String({ description: 'What happened, and how often the event is sent.' }),
  severity: Type.Enum([...EVENT_SEVERITIES], {
    description:
      'info: a change by the users themselves. notice: a recovery. warning: look soon. critical: calls or deliveries fail until a person acts.',
  }),
  webhooksOnly: Type.Boolean({ description: 'Only webhook endpoints get it: it is not listed, and not mailed.' }),
  sample: Type.Object(
    {},
    { additionalProperties: true, description: 'Sample `data`, as POST /v1/webhooks/{id}/test sends it.' },
  ),
});

export const EventTypeList = Type.Object({ types: Type.Array(EventType) });

/** For the API document. */
export const EXAMPLES = {
  'events.id': EXAMPLE_IDS.event,
  occurredAt: EXAMPLE_TIMES.used,
  'types.title': EVENT_TYPES['usage.threshold'].title,
  'types.description': EVENT_TYPES['usage.threshold'].description,
  'types.severity': EVENT_TYPES['usage.threshold'].severity,
  'types.webhooksOnly': false,
  'types.sample': EVENT_TYPES['usage.threshold'].sample,
};
