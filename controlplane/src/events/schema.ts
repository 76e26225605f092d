import { Type } from 'typebox';
import { PageQuery, PageReply } from '../http/pagination.js';
import { Day, Timestamp, Uuid } from '../http/schema.js';
import { EVENT_NAMES, type EventName } from './event-catalogue.js';

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
