/** Schemas of the calls of an organization (docs/contract.md#usage). */
import { TAG_PATTERN } from '@acg/base/budget-rows';
import { type Static, Type } from 'typebox';
import { PageQuery, PageReply } from '../../http/limit-offset-pagination.js';
import { Timestamp, Uuid } from '../../http/schema.js';
import { TimestampParam } from '../../http/timestamp-params.js';
import { LogRecord } from '../log-record/log-schema.js';

const STATUS = '(?:[1-5]xx|\\d{3})';
const TextOrNull = Type.Union([Type.String(), Type.Null()]);

export const CallsQuery = Type.Object({
  ...PageQuery,
  agentId: Type.Optional(Uuid),
  projectId: Type.Optional(Uuid),
  keyId: Type.Optional(Uuid),
  provider: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
  model: Type.Optional(
    Type.String({ maxLength: 200, description: 'Model name as in the log records. Empty: calls without a model.' }),
  ),
  status: Type.Optional(
    Type.String({
      pattern: `^${STATUS}(?:,${STATUS}){0,9}$`,
      description: 'Statuses that the agent received, or classes of statuses, separated by commas.',
      examples: ['404', '4xx,5xx'],
      'x-refused': 'must be statuses or classes of them, such as 404 or 4xx,5xx',
    }),
  ),
  minCost: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1e9, description: 'Only calls that cost at least this many US cents.' }),
  ),
  search: Type.Optional(
    Type.String({ maxLength: 200, description: 'Part of the path, model, error or request id. Case-insensitive.' }),
  ),
  tag: Type.Optional(
    Type.String({ pattern: TAG_PATTERN, maxLength: 97, description: 'Only calls with this tag: key=value.' }),
  ),
  runId: Type.Optional(Uuid),
  wouldReject: Type.Optional(
    Type.Boolean({ description: 'true: only calls that a limit in audit mode would have rejected.' }),
  ),
  startTime: Type.Optional(TimestampParam()),
  endTime: Type.Optional(TimestampParam()),
});
export type CallsQuery = Static<typeof CallsQuery>;

/** Fields of calls that exports lack. */
const CallExtras = Type.Object({
  upstreamStatus: Type.Integer({ description: 'Status of the provider response. 0: the provider sent none.' }),
  websocket: Type.Boolean(),
  projectId: Type.Union([Uuid, Type.Null()]),
  projectName: TextOrNull,
  agentName: TextOrNull,
  keyName: TextOrNull,
  keyPrefix: TextOrNull,
});
export type CallExtras = Static<typeof CallExtras>;

export const Call = Type.Object({ ...LogRecord.properties, ...CallExtras.properties });
export type Call = Static<typeof Call>;
export const CallReply = Type.Object({ log: Call });
export const CallsReply = Type.Object({
  logs: Type.Array(Call),
  ...PageReply,
  totalCapped: Type.Boolean({ description: 'True if there may be more matches than `total`.' }),
  searchedFrom: Type.Union([Timestamp, Type.Null()], {
    description:
      'Calls before this time were not searched; use it as endTime of the next request. Null: the whole range was searched.',
  }),
});
export type CallsReply = Static<typeof CallsReply>;

/** For the API document. */
export const EXAMPLES = {
  keyName: 'production',
  searchedFrom: null,
  upstreamStatus: 200,
  websocket: false,
};
