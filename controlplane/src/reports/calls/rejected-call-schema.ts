/** Schemas of the rejected calls of an organization (docs/contract.md#usage). */
import { type Static, Type } from 'typebox';
import { PageQuery, PageReply } from '../../http/limit-offset-pagination.js';
import { Timestamp, Uuid } from '../../http/schema.js';
import { TimestampParam } from '../../http/timestamp-params.js';

const TextOrNull = Type.Union([Type.String(), Type.Null()]);

export const RejectedCallsQuery = Type.Object({
  ...PageQuery,
  agentId: Type.Optional(Uuid),
  projectId: Type.Optional(Uuid),
  keyId: Type.Optional(Uuid),
  reason: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
  startTime: Type.Optional(TimestampParam()),
  endTime: Type.Optional(TimestampParam()),
});
export type RejectedCallsQuery = Static<typeof RejectedCallsQuery>;

export const RejectedCall = Type.Object({
  id: Type.String({ format: 'uuid', description: 'The request id that the agent got.' }),
  rejectedAt: Timestamp,
  reason: Type.String(),
  status: Type.Integer({ description: 'Status of the response.' }),
  method: Type.String(),
  path: Type.String({ description: 'Without the query.' }),
  providerSlug: Type.Union([Type.String(), Type.Null()], {
    description: 'Null: rejected before the provider was known.',
  }),
  model: TextOrNull,
  tool: TextOrNull,
  agentId: Uuid,
  agentName: TextOrNull,
  keyId: Uuid,
  keyName: TextOrNull,
  keyPrefix: TextOrNull,
  budgetId: Type.Union([Uuid, Type.Null()], { description: 'The budget row that rejected the call; null: none.' }),
  clientNetwork: Type.String({ description: 'IPv4 address, or /64 of the IPv6 address, of the client.' }),
});
export type RejectedCall = Static<typeof RejectedCall>;

export const RejectedCallsReply = Type.Object({ calls: Type.Array(RejectedCall), ...PageReply });
export type RejectedCallsReply = Static<typeof RejectedCallsReply>;

/** For the API document. */
export const EXAMPLES = {
  'RejectedCall.rejectedAt': '2026-11-22T16:51:54.000Z',
  'RejectedCall.keyId': '01a200de-16d8-74de-8093-48e13086089c',
  'RejectedCall.reason': 'sensitive_path',
  'RejectedCall.status': 403,
  'RejectedCall.method': 'GET',
  'RejectedCall.path': '/v1/organization/admin_api_keys',
  'RejectedCall.model': null,
  'RejectedCall.tool': null,
  'RejectedCall.budgetId': null,
  'RejectedCall.clientNetwork': '192.0.2.1',
};
