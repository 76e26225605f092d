/** CSV by RFC 4180, made safe for spreadsheets: a text that they would take for a formula gets a leading `'`. Pure. */
import type { LogRecord } from './schema.js';

const COLUMNS = [
  'id',
  'requestId',
  'createdAt',
  'agentId',
  'keyId',
  'providerSlug',
  'accountId',
  'method',
  'path',
  'status',
  'error',
  'model',
  'tokensIn',
  'tokensOut',
  'tokensCacheRead',
  'tokensCacheWrite',
  'tokensReasoning',
  'costCents',
  'usageSource',
  'priceSource',
  'durationMs',
  'ttfbMs',
  'bytesIn',
  'bytesOut',
  'streamed',
  'dataPlaneId',
] as const satisfies readonly (keyof LogRecord)[];

const LINE_END = '\r\n';
export const CSV_HEADER = COLUMNS.join(',') + LINE_END;

export function csvLine(record: LogRecord): string {
  let line = '';
  for (const column of COLUMNS) line += (line === '' ? '' : ',') + field(record[column]);
  return line + LINE_END;
}

const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/** One field; null is empty. Numbers are never formulas, whatever their sign. */
export function field(value: string | number | boolean | null): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
