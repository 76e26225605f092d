/** Timestamps in queries: ISO 8601 with offset. */
import { Type } from 'typebox';
import { InvalidInput } from '../domain/errors.js';

export const TimestampParam = (description?: string) =>
  Type.String({
    format: 'date-time',
    maxLength: 40,
    pattern: '^(?!0000)',
    ...(description === undefined ? {} : { description }),
  });

/** The first and last timestamps that Postgres and `toISOString` format alike. */
export const EARLIEST_TIMESTAMP_MS = Date.parse('0001-01-01T00:00:00.000Z');
export const LATEST_TIMESTAMP_MS = Date.parse('9999-12-31T23:59:59.999Z');

export function parseTimestamp(field: string, text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new InvalidInput(`${field} is not a valid time`); // 23:59:60
  return Math.min(LATEST_TIMESTAMP_MS, Math.max(EARLIEST_TIMESTAMP_MS, ms));
}

/** Null: not set. */
export const parseOptionalTimestamp = (field: string, text: string | undefined): Date | null =>
  text === undefined ? null : new Date(parseTimestamp(field, text));

/** Expiry time; null: never. Throws {@link InvalidInput} if it is in the past. */
export function parseExpiry(text: string | null, nowMs: number): Date | null {
  if (text === null) return null;
  const ms = parseTimestamp('expiresAt', text);
  if (ms <= nowMs) throw new InvalidInput('expiresAt must be in the future');
  return new Date(ms);
}
