/**
 * Schema and SQL of a log record, from the list in base/src/call-log-fields.ts. The pages of /logs, exports in JSON and
 * CSV, and the API document are built from them, so all of them have the same fields.
 */
import { LOG_FIELD_ROWS, type LOG_FIELDS, type LogFieldName } from '@acg/base/call-log-fields';
import { type Static, Type } from 'typebox';

const TYPES = {
  uuid: (description: string) => Type.String({ format: 'uuid', description }),
  time: (description: string) => Type.String({ format: 'date-time', description }),
  text: (description: string) => Type.String({ description }),
  textOrNull: (description: string) => Type.Union([Type.String(), Type.Null()], { description }),
  count: (description: string) => Type.Integer({ description }),
  countOrNull: (description: string) => Type.Union([Type.Integer(), Type.Null()], { description }),
  number: (description: string) => Type.Number({ description }),
  numberOrNull: (description: string) => Type.Union([Type.Number(), Type.Null()], { description }),
  flag: (description: string) => Type.Boolean({ description }),
};

type TypeOfField<Name extends LogFieldName> = ReturnType<(typeof TYPES)[(typeof LOG_FIELDS)[Name]['type']]>;
type Types = { [Name in LogFieldName]: TypeOfField<Name> };

export const LogRecord = Type.Object(
  Object.fromEntries(LOG_FIELD_ROWS.map(({ name, type, description }) => [name, TYPES[type](description)])) as Types,
);
export type LogRecord = Static<typeof LogRecord>;

/** The current name of a row of the record's own organization; `''`: deleted. */
const nameOf = (table: string, idColumn: string): string =>
  `coalesce((select n.name from ${table} n where n.id = r.${idColumn} and n.org_id = r.org_id), '')`;

/** Expressions over a row `r` of `usage_records`, where a field is not the column of its name in snake case. */
const SQL_BY_FIELD: { readonly [Name in LogFieldName]?: string } = {
  requestId: 'id',
  createdAt: `to_char(started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  tokensIn: 'tokens_in_uncached + tokens_cache_read + tokens_cache_write',
  costCents: 'trim_scale(cost_nanos * 0.0000001)',
  statedCostCents: 'trim_scale(stated_cost_nanos * 0.0000001)',
  runId: `coalesce(run_id::text, '')`,
  agentName: nameOf('agents', 'agent_id'),
  projectName: nameOf('projects', 'project_id'),
  keyName: nameOf('api_keys', 'key_id'),
};

export const logFieldSql = (name: LogFieldName): string =>
  SQL_BY_FIELD[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** For the API document. Calls have the fields of log records, too. */
export const EXAMPLES = Object.fromEntries(
  LOG_FIELD_ROWS.flatMap(({ name, example }) => [
    [`LogRecord.${name}`, example],
    [`Call.${name}`, example],
  ]),
);
