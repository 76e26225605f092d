/**
 * Columns of the archive. `usage`: the fields of an exported log record, the ids and names of its organization, project,
 * agent and key, and its cost in nano-dollars. `focus`: charges per hour by FOCUS 1.2 (https://focus.finops.org), with
 * columns of ours that begin with `x_`. SQL returns every value as text or null.
 */
import { LOG_FIELD_ROWS } from '@acg/base/call-log-fields';
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import type { SchemaElement } from 'hyparquet';

type ColumnType = 'text' | 'count' | 'time' | 'flag' | 'usd' | 'tags';

export interface ArchiveColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
  /** Expression over the row. */
  readonly sql: string;
}

const column = (name: string, type: ColumnType, sql: string, nullable = false): ArchiveColumn => ({
  name,
  type,
  nullable,
  sql,
});

const TYPE_OF_FIELD = {
  uuid: 'text',
  time: 'time',
  text: 'text',
  textOrNull: 'text',
  count: 'count',
  countOrNull: 'count',
  flag: 'flag',
} as const;

/** Fields whose expression is not the column of that name in snake case. */
const SQL_OF_FIELD: Readonly<Record<string, string>> = {
  requestId: 'r.id',
  createdAt: 'r.started_at',
  tokensIn: 'r.tokens_in_uncached + r.tokens_cache_read + r.tokens_cache_write',
  runId: `coalesce(r.run_id::text, '')`,
};
/** The archive has them at the end, by joins. */
const NAME_FIELDS = ['agentName', 'projectName', 'keyName'];
const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `costCents` and `statedCostCents` are `costUsd` and `statedCostUsd` here, because Parquet has exact decimals. */
export const USAGE_COLUMNS: readonly ArchiveColumn[] = [
  ...LOG_FIELD_ROWS.filter(({ name }) => !NAME_FIELDS.includes(name)).flatMap(({ name, type }): ArchiveColumn[] => {
    if (type === 'number') return [column('costUsd', 'usd', 'r.cost_nanos')];
    if (type === 'numberOrNull') return [column('statedCostUsd', 'usd', 'r.stated_cost_nanos', true)];
    const sql = SQL_OF_FIELD[name] ?? `r.${snakeCase(name)}`;
    const nullable = type === 'textOrNull' || type === 'countOrNull';
    return [column(name, TYPE_OF_FIELD[type], type === 'textOrNull' ? `nullif(${sql}, '')` : sql, nullable)];
  }),
  column('costNanos', 'count', 'r.cost_nanos'),
  column('upstreamStatus', 'count', 'r.upstream_status'),
  column('projectId', 'text', 'r.project_id', true),
  column('agentName', 'text', 'a.name', true),
  column('projectName', 'text', 'p.name', true),
  column('keyName', 'text', 'k.name', true),
];

/** Names are those at the time of the archive; null where the row is deleted. */
export const NAME_JOINS = `
  left join agents a on a.id = r.agent_id and a.org_id = r.org_id
  left join projects p on p.id = r.project_id and p.org_id = r.org_id
  left join key_names k on k.id = r.key_id and k.org_id = r.org_id`;
export const RUN_JOIN = 'left join runs n on n.id = r.run_id and n.org_id = r.org_id';

/** `customer=acme,feature=x` as a JSON object of texts: KeyValueFormat of FOCUS. Keys are unique, values unchanged. */
const TAGS_AS_JSON = `coalesce((
  select jsonb_object_agg(split_part(t, '=', 1), substr(t, strpos(t, '=') + 1))
    from unnest(string_to_array(nullif(r.tags, ''), ',')) t), '{}')`;

const MONTH = `date_trunc('month', r.hour, 'UTC')`;
const QUANTITY = 'case when r.tokens > 0 then r.tokens else r.requests end';
const UNIT = `case when r.tokens > 0 then 'Tokens' else 'Requests' end`;
const SKU = `r.provider_slug || case when r.model = '' then '' else '/' || r.model end`;

export const FOCUS_COLUMNS: readonly ArchiveColumn[] = [
  column('BilledCost', 'usd', 'r.cost_nanos'),
  column('BillingAccountId', 'text', 'r.org_id'),
  column('BillingAccountName', 'text', 'o.name', true),
  column('BillingAccountType', 'text', `'Organization'`),
  column('BillingCurrency', 'text', `'USD'`),
  column('BillingPeriodEnd', 'time', `${MONTH} + interval '1 month'`),
  column('BillingPeriodStart', 'time', MONTH),
  column('ChargeCategory', 'text', `'Usage'`),
  column('ChargeClass', 'text', 'null', true),
  column('ChargeDescription', 'text', `${SKU} || ' through the gateway'`),
  column('ChargeFrequency', 'text', `'Usage-Based'`),
  column('ChargePeriodEnd', 'time', `r.hour + interval '1 hour'`),
  column('ChargePeriodStart', 'time', 'r.hour'),
  column('ConsumedQuantity', 'count', QUANTITY),
  column('ConsumedUnit', 'text', UNIT),
  column('ContractedCost', 'usd', 'r.cost_nanos'),
  column('EffectiveCost', 'usd', 'r.cost_nanos'),
  column('InvoiceIssuerName', 'text', 'r.provider_slug'),
  column('ListCost', 'usd', 'r.cost_nanos'),
  column('PricingCategory', 'text', `'Standard'`),
  column('PricingQuantity', 'count', QUANTITY),
  column('PricingUnit', 'text', UNIT),
  column('ProviderName', 'text', 'r.provider_slug'),
  column('PublisherName', 'text', 'r.provider_slug'),
  column('ResourceId', 'text', 'r.agent_id'),
  column('ResourceName', 'text', 'a.name', true),
  column('ResourceType', 'text', `'Agent'`),
  column('ServiceCategory', 'text', `case when r.tokens > 0 then 'AI and Machine Learning' else 'Other' end`),
  column('ServiceName', 'text', `r.provider_slug || ' API'`),
  column('ServiceSubcategory', 'text', `case when r.tokens > 0 then 'Generative AI' else 'Other (Other)' end`),
  column('SkuId', 'text', SKU),
  column('SkuPriceId', 'text', SKU),
  column('SubAccountId', 'text', 'r.project_id', true),
  column('SubAccountName', 'text', 'p.name', true),
  column('SubAccountType', 'text', `case when r.project_id is null then null else 'Project' end`, true),
  column('Tags', 'tags', TAGS_AS_JSON),
  column('x_AgentId', 'text', 'r.agent_id'),
  column('x_AgentName', 'text', 'a.name', true),
  column('x_ProjectId', 'text', 'r.project_id', true),
  column('x_ProjectName', 'text', 'p.name', true),
  column('x_KeyId', 'text', 'r.key_id'),
  column('x_KeyName', 'text', 'k.name', true),
  column('x_Model', 'text', `nullif(r.model, '')`, true),
  column('x_RunId', 'text', 'r.run_id', true),
  column('x_RunLabel', 'text', `nullif(n.label, '')`, true),
  column('x_Requests', 'count', 'r.requests'),
  column('x_CostNanos', 'count', 'r.cost_nanos'),
];

const DECIMAL_PRECISION = 18;
/** The largest number that a decimal of 64 bits holds in Parquet; decimal text. */
export const CHARGE_MAX = '9'.repeat(DECIMAL_PRECISION);
const NANO_SCALE = 9;

const PARQUET_TYPES: Readonly<Record<ColumnType, Partial<SchemaElement>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  tags: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  count: { type: 'INT64' },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
  flag: { type: 'BOOLEAN' },
  // USD with nine decimals: the unscaled value is nano-dollars.
  usd: { type: 'INT64', converted_type: 'DECIMAL', precision: DECIMAL_PRECISION, scale: NANO_SCALE },
};

export const parquetSchema = (columns: readonly ArchiveColumn[]): SchemaElement[] => [
  { name: 'root', num_children: columns.length },
  ...columns.map(
    ({ name, type, nullable }): SchemaElement => ({
      name,
      repetition_type: nullable ? 'OPTIONAL' : 'REQUIRED',
      ...PARQUET_TYPES[type],
    }),
  ),
];

/** Selects the column as text; times as Unix microseconds. */
export const selectAsText = ({ name, type, sql }: ArchiveColumn): string =>
  type === 'time' ? `(extract(epoch from ${sql}) * 1000000)::bigint::text as "${name}"` : `(${sql})::text as "${name}"`;

export type ParquetValue = string | bigint | boolean | null;

/** Converts a text of Postgres to the value that the Parquet writer takes. */
export function toParquetValue(type: ColumnType, text: string | null): ParquetValue {
  if (text === null) return null;
  if (type === 'count' || type === 'usd' || type === 'time') return BigInt(text);
  return type === 'flag' ? text === 'true' || text === 't' : text;
}

export const startOfHours = (dayMs: number): readonly Date[] =>
  Array.from({ length: DAY_MS / HOUR_MS }, (_, hour) => new Date(dayMs + hour * HOUR_MS));
