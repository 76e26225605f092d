/** Schemas of the usage endpoints (docs/contract.md#usage). */
import { REJECTION_ADVICE, type RejectionReason } from '@acg/base/rejection-reasons';
import { type Static, type TSchema, Type } from 'typebox';
import { PageQuery, PageReply } from '../../http/limit-offset-pagination.js';
import { Day, Uuid } from '../../http/schema.js';
import { LogRecord } from '../log-record/log-schema.js';
import { DIMENSIONS, TAG_DIMENSION_PATTERN, type TagDimension } from '../query/rollup-selection.js';
import { BREAKDOWN_SORTS } from '../query/rollup-store.js';
import { INTERVALS, PERIODS } from '../query/time-range.js';

export const AgentParams = Type.Object({ agentId: Uuid });

const AnyPeriod = Type.Enum([...PERIODS]);
const AnyInterval = Type.Enum([...INTERVALS]);
const PeriodOrNull = Type.Union([AnyPeriod, Type.Null()], { description: 'Null if the request gave start or end.' });
const OptionalPeriod = Type.Optional(AnyPeriod);
const Count = Type.Integer();
export const Usd = Type.Number({ description: 'US dollars, rounded to six decimals.' });

const orNull = <T extends TSchema>(type: T) => Type.Union([type, Type.Null()]);
/** US cents, not rounded. */
export const Cents = Type.Number({ description: 'US cents, not rounded.' });
/** A period, or a range of days instead. */
export const rangeFields = { period: OptionalPeriod, start: Type.Optional(Day), end: Type.Optional(Day) };

export const DaysQuery = Type.Object({ start: Type.Optional(Day), end: Type.Optional(Day) });
export const RangeQuery = Type.Object(rangeFields);
export const TimeseriesQuery = Type.Object({ ...rangeFields, interval: Type.Optional(AnyInterval) });
const exportFields = { ...rangeFields, format: Type.Optional(Type.Enum(['json', 'csv'])) };
export const ExportQuery = Type.Object(exportFields);
export type ExportQuery = Static<typeof ExportQuery>;
/** Adds the series of each agent to a list of agents. */
export const SeriesOf = Type.Optional(
  Type.Enum([...INTERVALS], { description: 'Adds a time series to each agent, by hour or by day.' }),
);
const Series = Type.Object(
  { requests: Type.Array(Count), costUsd: Type.Array(Usd) },
  { description: 'Present if series was requested: one value per entry of buckets.' },
);
export const AgentSeries = Type.Optional(Series);
export type AgentSeries = Static<typeof Series>;
export const seriesReply = {
  buckets: Type.Optional(
    Type.Array(Type.String(), { description: 'Present if series was requested: starts of the buckets, oldest first.' }),
  ),
};
export const CompareQuery = Type.Object({
  agentIds: Type.String({ minLength: 36, maxLength: 2_000 }),
  series: SeriesOf,
  ...rangeFields,
});
export const LogsQuery = Type.Object({
  ...PageQuery,
  provider: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
  statusMin: Type.Optional(Type.Integer({ minimum: 0, maximum: 999 })),
  statusMax: Type.Optional(Type.Integer({ minimum: 0, maximum: 999 })),
  start: Type.Optional(Day),
  end: Type.Optional(Day),
  search: Type.Optional(Type.String({ maxLength: 200 })),
});
export type LogsQuery = Static<typeof LogsQuery>;

export const ProviderUsage = Type.Object({
  providerSlug: Type.String(),
  totalRequests: Count,
  totalTokensIn: Count,
  totalTokensOut: Count,
  totalCostCents: Count,
  totalCostUsd: Usd,
  avgDurationMs: Type.Number(),
  rejectedRequests: Count,
});
export type ProviderUsage = Static<typeof ProviderUsage>;
export const UsageReply = Type.Object({ usage: Type.Array(ProviderUsage) });

const summaryFields = {
  period: PeriodOrNull,
  totalRequests: Count,
  errorRate: Type.Number(),
  p50Latency: Type.Number(),
  p95Latency: Type.Number(),
  costCents: Count,
  costUsd: Usd,
  budgetCents: Type.Union([Count, Type.Null()]),
  budgetUsd: Type.Union([Usd, Type.Null()]),
  burnRateCentsPerHour: Type.Number(),
  projectedMonthlyCents: Count,
  projectedMonthlyUsd: Usd,
  daysUntilBudget: Type.Union([Type.Number(), Type.Null()]),
  rejectedRequests: Count,
};
export const UsageSummary = Type.Object(summaryFields);
export type UsageSummary = Static<typeof UsageSummary>;

export const ComparedAgent = Type.Object({
  agentId: Uuid,
  agentName: Type.String(),
  ...summaryFields,
  series: AgentSeries,
});
export type ComparedAgent = Static<typeof ComparedAgent>;
export const CompareReply = Type.Object({ period: PeriodOrNull, ...seriesReply, agents: Type.Array(ComparedAgent) });
export type CompareReply = Static<typeof CompareReply>;

export const TimePoint = Type.Object({
  bucket: Type.String(),
  requests: Count,
  errors: Count,
  avgLatency: Type.Number(),
  costCents: Count,
  costUsd: Usd,
  rejectedRequests: Count,
});
export type TimePoint = Static<typeof TimePoint>;
export const TimeseriesReply = Type.Object({
  period: PeriodOrNull,
  interval: AnyInterval,
  timeseries: Type.Array(TimePoint),
});

export const ProviderBreakdown = Type.Object({
  providerSlug: Type.String(),
  totalRequests: Count,
  errorCount: Count,
  avgLatency: Type.Number(),
  p95Latency: Type.Number(),
  totalCostCents: Count,
  totalCostUsd: Usd,
  totalTokensIn: Count,
  totalTokensOut: Count,
  rejectedRequests: Count,
});
export type ProviderBreakdown = Static<typeof ProviderBreakdown>;
export const ProvidersReply = Type.Object({ period: PeriodOrNull, providers: Type.Array(ProviderBreakdown) });

const OptionalText = Type.Union([Type.String(), Type.Null()]);
export const LogsReply = Type.Object({ logs: Type.Array(LogRecord), ...PageReply, totalCapped: Type.Boolean() });

/** Scope of usage: the organization, one of its projects or one agent, including deleted ones. */
const scopeFields = { projectId: Type.Optional(Uuid), agentId: Type.Optional(Uuid), ...rangeFields };
export const ScopeQuery = Type.Object(scopeFields);
export type ScopeQuery = Static<typeof ScopeQuery>;
export const GROUPS = [...DIMENSIONS, 'status', 'reason'] as const;
export type GroupBy = (typeof GROUPS)[number] | TagDimension;
const AnyGroup = Type.Unsafe<GroupBy>({
  type: 'string',
  pattern: `^(?:${GROUPS.join('|')}|${TAG_DIMENSION_PATTERN})$`,
  description: `One of ${GROUPS.join(', ')}, or tag: and the key of a tag, such as tag:customer.`,
  examples: ['model', 'tag:customer'],
  'x-refused': `must be one of ${GROUPS.join(', ')}, or tag:KEY`,
});
const keyId = Type.Optional(
  Type.String({
    format: 'uuid',
    description: 'Only calls with this key, also a revoked one. Rejected calls are not counted by key.',
  }),
);
export const ScopeSeriesQuery = Type.Object({
  ...scopeFields,
  keyId,
  interval: Type.Optional(AnyInterval),
  groupBy: Type.Optional(AnyGroup),
});
export type ScopeSeriesQuery = Static<typeof ScopeSeriesQuery>;
export const BreakdownQuery = Type.Object({
  ...scopeFields,
  keyId,
  by: AnyGroup,
  thenBy: Type.Optional(
    Type.Enum([...DIMENSIONS], {
      description: 'A second dimension: one row for each pair, e.g. by=project and thenBy=model.',
    }),
  ),
  compare: Type.Optional(
    Type.Enum(['previous'], { description: 'Adds calls and spend of the previous period to each row and to totals.' }),
  ),
  sort: Type.Optional(Type.Enum(Object.keys(BREAKDOWN_SORTS) as (keyof typeof BREAKDOWN_SORTS)[])),
  order: Type.Optional(Type.Enum(['asc', 'desc'])),
  ...PageQuery,
});
export type BreakdownQuery = Static<typeof BreakdownQuery>;
export const ScopeExportQuery = Type.Object({
  ...scopeFields,
  keyId: Type.Optional(Type.String({ format: 'uuid', description: 'Only calls with this key, also a revoked one.' })),
  ...exportFields,
});

const sums = {
  requests: Count,
  errors: Count,
  tokensIn: Count,
  tokensOut: Count,
  costCents: Cents,
  costUsd: Usd,
  avgLatency: Type.Number(),
};
const Hour = Type.String({ format: 'date-time', description: 'Start of an hour, UTC.' });
export const span = { from: Hour, to: Hour };
const Forecast = Type.Object({
  burnRateCentsPerHour: Type.Number(),
  projectedMonthlyCents: Cents,
  daysUntilBudget: Type.Union([Type.Number(), Type.Null()]),
});
export const ScopeSummary = Type.Object({
  ...span,
  ...sums,
  errorRate: Type.Number(),
  p50Latency: Type.Number(),
  p95Latency: Type.Number(),
  rejectedRequests: Count,
  monthCents: Type.Number({ description: 'Spend of the current calendar month in US cents.' }),
  budgetCents: orNull(Count),
  budgetUsedPercent: orNull(Type.Number()),
  forecast: Type.Union([Forecast, Type.Null()], {
    description: 'Null if the organization, project or agent is less than 24 hours old or deleted.',
  }),
});
export type ScopeSummary = Static<typeof ScopeSummary>;
const groupFigures = {
  requests: orNull(Count),
  errors: orNull(Count),
  tokensIn: orNull(Count),
  tokensOut: orNull(Count),
  costCents: orNull(Cents),
  costUsd: orNull(Usd),
  avgLatency: orNull(Type.Number()),
  rejectedRequests: orNull(Count),
};
const GroupFigures = Type.Object(groupFigures, {
  description: 'Null if the figure does not exist for this kind of group.',
});
export type GroupFigures = Static<typeof GroupFigures>;
const Bucket = Type.Object({ bucket: Type.String(), ...sums, rejectedRequests: Count });
const SeriesGroup = Type.Object({
  value: Type.Union([Type.String(), Type.Null()], {
    description: 'As in a breakdown. Null: all other groups together.',
  }),
  name: OptionalText,
  timeseries: Type.Array(Type.Object({ bucket: Type.String(), ...groupFigures })),
});
export type SeriesGroup = Static<typeof SeriesGroup>;
export const ScopeSeries = Type.Object({
  ...span,
  interval: AnyInterval,
  timeseries: Type.Array(Bucket),
  groups: Type.Optional(
    Type.Array(SeriesGroup, {
      description: 'Present if groupBy was requested: the ten largest groups, then all others together.',
    }),
  ),
});
export type ScopeSeries = Static<typeof ScopeSeries>;
const Previous = Type.Optional(
  Type.Object(
    { requests: Count, costCents: Cents, costUsd: Usd },
    { description: 'Present with compare=previous; from `previousFrom` to `previousTo`.' },
  ),
);
const BreakdownRow = Type.Object({
  value: Type.String({
    description: 'Slug, model, id, status or rejection reason. Empty or the nil UUID if unknown.',
  }),
  name: OptionalText,
  thenValue: Type.Optional(Type.String({ description: 'Value of the second dimension; present with thenBy.' })),
  thenName: Type.Optional(OptionalText),
  ...groupFigures,
  previous: Previous,
});
export const Breakdown = Type.Object({
  ...span,
  by: AnyGroup,
  previousFrom: Type.Optional(Hour),
  previousTo: Type.Optional(Hour),
  totals: Type.Optional(
    Type.Object(
      { ...sums, previous: Previous },
      { description: 'Sums of all rows, not only of this page. Absent by status and reason.' },
    ),
  ),
  rows: Type.Array(BreakdownRow),
  ...PageReply,
});
export type Breakdown = Static<typeof Breakdown>;
/** No enumeration: a data plane of another release may count a reason that this release does not know. */
const RefusalReason = Type.String({
  description: `One of ${Object.keys(REJECTION_ADVICE).join(', ')}; data planes of later releases may have further ones.`,
});

export const Refusals = Type.Object({
  ...span,
  refusals: Type.Array(Type.Object({ reason: RefusalReason, count: Count })),
});
export type Refusals = Static<typeof Refusals>;

/** For the API document. */
export const EXAMPLES = {
  'Breakdown.rows.name': null,
  'groups.name': null,
  reason: 'budget' satisfies RejectionReason,
  bucket: '2026-01-30 00:00:00',
  'ScopeSeries.interval': 'day',
  'TimeseriesReply.interval': 'day',
  period: '7d',
  budgetUsd: 50,
  value: 'openai',
  'groups.value': 'openai',
  by: 'provider',
  thenValue: 'gpt-5-mini',
  thenName: null,
  previousFrom: '2025-12-24T00:00:00.000Z',
  previousTo: '2025-12-31T00:00:00.000Z',
  avgDurationMs: 812,
  burnRateCentsPerHour: 1.72,
  count: 42,
  daysUntilBudget: 91.1,
  errorCount: 5,
  p50Latency: 640,
  projectedMonthlyCents: 1_280,
  projectedMonthlyUsd: 12.8,
  totalCostCents: 1_240,
  totalCostUsd: 12.4,
  totalRequests: 1_204,
  totalTokensIn: 1_579_648,
  totalTokensOut: 322_672,
};
