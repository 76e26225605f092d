/** Schemas of the list of agents with their usage figures (docs/contract.md#usage). */

import { type Static, Type } from 'typebox';
import { EXAMPLE_IDS, EXAMPLE_TIMES } from '../../http/examples.js';
import { PageQuery, PageReply } from '../../http/limit-offset-pagination.js';
import { Timestamp, Uuid } from '../../http/schema.js';
import { SortQuery } from '../../http/search-and-sort-query-schema.js';
import {
  type DefaultedLimitName,
  type LimitName,
  mapLimits,
  pickLimitsShownInLists,
} from '../../limits/agent-limit-fields.js';
import { AgentSeries, Cents, rangeFields, SeriesOf, seriesReply, span, Usd } from './schema.js';

export const AGENT_SORTS = [
  'name',
  'createdAt',
  'costCents',
  'monthCents',
  'budgetUsedPercent',
  'requests',
  'errorRate',
  'rejectedRequests',
  'lastCallAt',
] as const;
export type AgentSort = (typeof AGENT_SORTS)[number];

const Status = Type.Enum(['active', 'paused', 'revoked']);
const Count = Type.Integer();
const CountOrNull = Type.Union([Count, Type.Null()]);

export const AgentFiguresQuery = Type.Object({
  ...PageQuery,
  ...rangeFields,
  projectId: Type.Optional(Uuid),
  search: Type.Optional(
    Type.String({ maxLength: 200, description: 'Part of the name, slug or id. Case-insensitive.' }),
  ),
  status: Type.Optional(Status),
  series: SeriesOf,
  ...SortQuery(AGENT_SORTS),
});
export type AgentFiguresQuery = Static<typeof AgentFiguresQuery>;

const limits = pickLimitsShownInLists(
  mapLimits(({ default: fallback }) => (fallback === null ? CountOrNull : Count)) as {
    [name in LimitName]: name extends DefaultedLimitName ? typeof Count : typeof CountOrNull;
  },
);
const OwnerUserId = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'uuid',
  description: 'The member whose personal agent this is; null: an agent of the organization.',
});
export const AgentFigures = Type.Object({
  id: Uuid,
  name: Type.String(),
  slug: Type.String(),
  status: Status,
  projectId: Uuid,
  projectName: Type.String(),
  ownerUserId: OwnerUserId,
  ...limits,
  usageThresholds: Type.Array(Count, { description: 'Percentages of the monthly budget at which alerts are sent.' }),
  createdAt: Timestamp,
  requests: Count,
  errors: Count,
  errorRate: Type.Number(),
  rejectedRequests: Count,
  tokensIn: Count,
  tokensOut: Count,
  costCents: Cents,
  costUsd: Usd,
  avgLatency: Type.Number(),
  p95Latency: Type.Number(),
  monthCents: Cents,
  budgetUsedPercent: Type.Union([Type.Number(), Type.Null()], {
    description: "Percentage of this month's budget. Null if there is no budget or the budget is 0.",
  }),
  lastCallAt: Type.Union([Timestamp, Type.Null()], {
    description: 'Start of the last forwarded call. For calls older than the hourly rollups, the day.',
  }),
  series: AgentSeries,
});
export type AgentFigures = Static<typeof AgentFigures>;
export const AgentFiguresReply = Type.Object({
  ...span,
  ...seriesReply,
  agents: Type.Array(AgentFigures),
  ...PageReply,
});
export type AgentFiguresReply = Static<typeof AgentFiguresReply>;

/** For the API document. */
export const EXAMPLES = {
  'AgentFigures.id': EXAMPLE_IDS.agent,
  lastCallAt: EXAMPLE_TIMES.used,
};
