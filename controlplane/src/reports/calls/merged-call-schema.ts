/** Schemas of the list that holds forwarded and rejected calls (docs/contract.md#usage). */
import { type Static, Type } from 'typebox';
import { PageQuery } from '../../http/limit-offset-pagination.js';
import { Timestamp, Uuid } from '../../http/schema.js';
import { Call, CallsQuery } from './call-schema.js';
import { RejectedCall } from './rejected-call-schema.js';

const { offset: _offset, ...filters } = CallsQuery.properties;

export const MergedCallsQuery = Type.Object({
  ...filters,
  limit: PageQuery.limit,
  state: Type.Optional(
    Type.Union([Type.Literal('forwarded'), Type.Literal('rejected')], {
      description: 'Default: both; for viewers and members forwarded calls only.',
    }),
  ),
  reason: Type.Optional(
    Type.String({ minLength: 1, maxLength: 40, description: 'Only calls that the gateway rejected for this reason.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      // The instant in microseconds and the id of the call after which the page starts.
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
      maxLength: 64,
      description: '`nextCursor` of the page before.',
      examples: ['2026-11-22T16:51:54.123000Z_01a200de-16d8-74de-8093-48e13086089c'],
      'x-refused': 'must be nextCursor of the page before',
    }),
  ),
});
export type MergedCallsQuery = Static<typeof MergedCallsQuery>;

export const MergedCall = Type.Object({
  state: Type.Union([Type.Literal('forwarded'), Type.Literal('rejected')]),
  at: Type.Unsafe<string>({ ...Timestamp, description: 'When the call started, or when the gateway rejected it.' }),
  id: Uuid,
  forwarded: Type.Union([Call, Type.Null()]),
  rejected: Type.Union([RejectedCall, Type.Null()]),
});
export type MergedCall = Static<typeof MergedCall>;

export const MergedCallsReply = Type.Object({
  calls: Type.Array(MergedCall),
  limit: Type.Integer(),
  nextCursor: Type.Union([Type.String(), Type.Null()], {
    description: '`cursor` of the next page. Null: no older call matches.',
  }),
  searchedFrom: Type.Union([Timestamp, Type.Null()], {
    description: 'The search stopped here before the page was full; `nextCursor` continues it. Null: it did not stop.',
  }),
});
export type MergedCallsReply = Static<typeof MergedCallsReply>;

/** For the API document. */
export const EXAMPLES = {
  'MergedCall.state': 'rejected',
  'MergedCall.at': '2026-11-22T16:51:54.000Z',
  'MergedCall.forwarded': null,
  nextCursor: '2026-11-22T16:51:54.123000Z_01a200de-16d8-74de-8093-48e13086089c',
};
