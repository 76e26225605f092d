import { type Static, Type } from 'typebox';
import { EVENT_NAMES, type EventName } from '../events/event-catalogue.js';
import { EventNameField } from '../events/schema.js';
import { EXAMPLE_IDS, EXAMPLE_TIMES } from '../http/examples.js';
import { PageQuery, PageReply } from '../http/limit-offset-pagination.js';
import { Body, Timestamp, Uuid } from '../http/schema.js';
import { SearchQuery, SortQuery } from '../http/search-and-sort-query-schema.js';
import { TimestampParam } from '../http/timestamp-params.js';
import { ENDPOINT_KINDS, type EndpointKind } from './format-delivery-body.js';

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([type, Type.Null()]);
const EndpointStatus = Type.Unsafe<'active' | 'paused'>({ type: 'string', enum: ['active', 'paused'] });
const DeliveryStatus = Type.Unsafe<'pending' | 'success' | 'failed'>({
  type: 'string',
  enum: ['pending', 'success', 'failed'],
});
const Kind = Type.Unsafe<EndpointKind>({
  type: 'string',
  enum: [...ENDPOINT_KINDS],
  description:
    'What the receiver reads: the signed event (webhook), or a message for an incoming webhook of Slack or Teams.',
});
const Events = Type.Array(EventNameField, { minItems: 1, maxItems: EVENT_NAMES.length, uniqueItems: true });
const Url = Type.String({ minLength: 1, maxLength: 2048 });

export const Endpoint = Type.Object({
  id: Uuid,
  url: Type.String({ description: 'Of Slack and Teams only the host: the path is their secret.' }),
  kind: Kind,
  events: Type.Array(EventNameField),
  status: EndpointStatus,
  pausedReason: Type.Unsafe<'failing' | null>({
    anyOf: [{ type: 'string', enum: ['failing'] }, { type: 'null' }],
    description: 'failing: every attempt failed for 3 days and at least 50 times. Set `status` to `active` to resume.',
  }),
  previousSecretUntil: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'Until this time deliveries are also signed with the previous secret.',
  }),
  failingSince: nullable({ ...Timestamp, description: 'Since then every attempt has failed; null unless failing.' }),
  recent: Type.Object(
    { delivered: Type.Integer(), failed: Type.Integer(), pending: Type.Integer() },
    { description: 'Counts of the newest 50 deliveries; failed includes those that wait for a retry.' },
  ),
  createdAt: Timestamp,
});
export type Endpoint = Static<typeof Endpoint>;

export const EndpointInput = Body({ url: Url, events: Events, kind: Type.Optional(Kind) });
export type EndpointInput = Static<typeof EndpointInput>;

export const EndpointPatch = Type.Object(
  { url: Type.Optional(Url), events: Type.Optional(Events), status: Type.Optional(EndpointStatus) },
  { additionalProperties: false, minProperties: 1 },
);
export type EndpointPatch = Static<typeof EndpointPatch>;

export const EndpointReply = Type.Object({ endpoint: Endpoint });
export const EndpointCreated = Type.Object({
  endpoint: Type.Object({
    ...Endpoint.properties,
    secret: Type.String({ description: 'Signs every delivery. Only this response contains it.' }),
  }),
});
export const WebhookTestInput = Body({
  event: Type.Optional(
    Type.Unsafe<EventName>({
      ...EventNameField,
      description: 'An event that the endpoint subscribes to. Default: the first one.',
    }),
  ),
});

/** 7 days. */
const GRACE_MAX_S = 604_800;
export const SecretRotation = Body({
  graceSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: GRACE_MAX_S,
      default: 86_400,
      description: 'How long deliveries are signed with both secrets; 0: not at all.',
    }),
  ),
});

const Replayable = Type.Unsafe<'failed' | 'success'>({ type: 'string', enum: ['failed', 'success'] });
export const ReplayInput = Body({
  start: Type.String({ format: 'date-time', description: 'Replays deliveries created at or after this time.' }),
  end: Type.String({ format: 'date-time', description: 'Replays deliveries created before this time.' }),
  status: Type.Optional(
    Type.Array(Replayable, { minItems: 1, uniqueItems: true, description: 'Statuses to replay. Default: failed.' }),
  ),
  event: Type.Optional(EventNameField),
});
export type ReplayInput = Static<typeof ReplayInput>;
export const ReplayReply = Type.Object({
  replayed: Type.Integer({
    description: 'Number of deliveries queued again, the oldest first; at most 1000 per call.',
  }),
  remaining: Type.Integer({ description: 'Number of deliveries in the range that were not queued.' }),
  until: Type.Union([Timestamp, Type.Null()], {
    description: 'Creation time of the last queued delivery: the `start` of the next call. Null when none was queued.',
  }),
});
export type ReplayReply = Static<typeof ReplayReply>;

export const EndpointList = Type.Object({ endpoints: Type.Array(Endpoint), ...PageReply });

export const Delivery = Type.Object({
  id: Uuid,
  endpointId: Uuid,
  event: EventNameField,
  status: DeliveryStatus,
  statusCode: nullable(Type.String({ description: 'HTTP status of the last attempt; null without a response.' })),
  error: nullable(Type.String({ description: 'Class of the last failure, e.g. timeout.' })),
  attempts: Type.Integer(),
  lastAttemptAt: nullable(Timestamp),
  createdAt: Timestamp,
});
export type Delivery = Static<typeof Delivery>;

export const DeliveryDetail = Type.Object({
  ...Delivery.properties,
  payload: Type.Object({
    event: EventNameField,
    timestamp: Timestamp,
    data: Type.Object({}, { additionalProperties: true }),
  }),
  attemptLog: Type.Array(
    Type.Object({
      at: Timestamp,
      statusCode: nullable(Type.String({ description: 'HTTP status; null without a response.' })),
      error: nullable(Type.String({ description: 'Class of the failure; null on success.' })),
      durationMs: Type.Integer(),
      responseBody: nullable(
        Type.String({ description: 'First KiB of the response body, for admins. Null without a response.' }),
      ),
    }),
    { description: 'The newest ten attempts, the oldest first.' },
  ),
});
export type DeliveryDetail = Static<typeof DeliveryDetail>;

export const EndpointQuery = Type.Object({
  ...PageQuery,
  ...SearchQuery('the URL'),
  status: Type.Optional(EndpointStatus),
  ...SortQuery(['createdAt', 'url']),
});
export type EndpointQuery = Static<typeof EndpointQuery>;
export const DeliveryQuery = Type.Object({
  ...PageQuery,
  status: Type.Optional(DeliveryStatus),
  event: Type.Optional(EventNameField),
  start: Type.Optional(TimestampParam('Only those made from then on,')),
  end: Type.Optional(TimestampParam('and before then.')),
  ...SortQuery(['createdAt', 'lastAttemptAt', 'attempts']),
});
export type DeliveryQuery = Static<typeof DeliveryQuery>;
export const DeliveryList = Type.Object({ deliveries: Type.Array(Delivery), ...PageReply });
export const DeliveryReply = Type.Object({ delivery: Delivery });
export const DeliveryDetailReply = Type.Object({ delivery: DeliveryDetail });
export const EndpointDeleted = Type.Object({ deleted: Type.Literal(true) });

/** For the API document. */
export const EXAMPLES = {
  'Delivery.id': EXAMPLE_IDS.delivery,
  'DeliveryDetail.id': EXAMPLE_IDS.delivery,
  'Endpoint.id': EXAMPLE_IDS.endpoint,
  'endpoint.id': EXAMPLE_IDS.endpoint,
  endpointId: EXAMPLE_IDS.endpoint,
  error: null,
  'endpoint.secret': `whsec_${'0'.repeat(64)}`,
  url: 'https://hooks.example.com/acg',
  end: '2026-01-31T12:00:00.000Z',
  lastAttemptAt: EXAMPLE_TIMES.used,
  pausedReason: null,
  'endpoint.failingSince': null,
  'Endpoint.failingSince': null,
  'Endpoint.kind': 'webhook',
  'endpoint.kind': 'webhook',
  'EndpointInput.kind': 'webhook',
  delivered: 17,
  failed: 0,
  pending: 0,
  'attemptLog.at': EXAMPLE_TIMES.used,
  durationMs: 184,
  responseBody: 'ok',
  previousSecretUntil: null,
  start: '2026-01-31T06:00:00.000Z',
  timestamp: EXAMPLE_TIMES.used,
  until: '2026-01-31T11:48:03.000Z',
  'ReplayInput.status': ['failed'],
  'ReplayInput.event': 'usage.threshold',
  'Delivery.status': 'success',
  'DeliveryDetail.status': 'success',
  statusCode: '200',
  attempts: 1,
  remaining: 0,
  replayed: 17,
};
