/**
 * Validates values that a data plane sent. Texts are truncated and cleaned, because a model's odd name must not cost
 * the record. Invalid numbers or ids throw {@link InvalidUsageRecord}.
 */

import { TAG_PATTERN, utcDayOf } from '@acg/base/budget-rows';
import { UUID_PATTERN } from '@acg/base/uuid-patterns';
/** Why a record cannot be booked. */
export class InvalidUsageRecord extends Error {}

const SLUG = /^[a-z0-9-]{1,40}$/;

export const INT4_MAX = 2 ** 31 - 1;
/** 2,199 USD, 2 TB, 2 × 10¹² tokens: sums over a batch of 4,096 stay exact in a JS number. */
export const COUNT_MAX = 2 ** 41;
/**
 * Sums of nano-dollars stop growing near this value, 4.6 billion USD. A tenant whose own provider reports invented
 * usage can reach it. A sum beyond `bigint` would fail a booking or a daily rollup for all tenants.
 */
export const NANOS_SUM_MAX = 2 ** 62;
export const HTTP_STATUS_MAX = 999;

export function isUuid(value: string): boolean {
  return UUID_PATTERN.test(value);
}

/** Returns the value if it is a provider slug, else `''`. */
export function slugOrEmpty(value: string | null | undefined): string {
  return value != null && SLUG.test(value) ? value : '';
}

/** Truncates to `charsMax` characters and replaces NUL, which Postgres cannot store. */
export function truncateAndReplaceNul(value: string | null | undefined, charsMax: number): string {
  const raw = value ?? '';
  const cut = raw.length > charsMax ? raw.slice(0, charsMax) : raw;
  return cut.includes('\0') ? cut.replaceAll('\0', '\ufffd') : cut; // the check is cheaper than a replacement without a match
}

/** Returns the UUID in lower case. Throws {@link InvalidUsageRecord}. */
export function parseUuid(field: string, value: string): string {
  if (UUID_PATTERN.test(value)) return value;
  const lower = value.toLowerCase();
  if (!UUID_PATTERN.test(lower)) throw new InvalidUsageRecord(`${field} is not a UUID`);
  return lower;
}

export function parseProviderSlug(field: string, value: string): string {
  const known = slugOrEmpty(value);
  if (known === '') throw new InvalidUsageRecord(`${field} is not a provider slug`);
  return known;
}

export function parseIntegerUpTo(field: string, value: number, max: number): number {
  if (value > max) throw new InvalidUsageRecord(`${field} is out of range`);
  return value;
}

export const parseCount = (field: string, value: number): number => parseIntegerUpTo(field, value, COUNT_MAX);

const DAY = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;

/** `YYYY-MM-DD`; `''` for anything else. */
export function parseDayOrEmpty(value: string | null | undefined): string {
  if (value == null || !DAY.test(value)) return '';
  const ms = Date.parse(value);
  return Number.isFinite(ms) && utcDayOf(ms) === value ? value : '';
}

const TAG = new RegExp(TAG_PATTERN);
/** A data plane accepts four of a call. */
const TAGS_MAX = 8;

/** `key=value,…`, sorted, each key once. Leaves out what is malformed. */
export function parseTagsOrEmpty(value: string | null | undefined): string {
  if (value == null || value === '') return '';
  const tags = value.split(',', TAGS_MAX);
  const keyOf = (tag: string): string => tag.slice(0, tag.indexOf('='));
  // As a data plane sends them. Nearly each record has other tags, so the common case must be cheap.
  const follows = (tag: string, before: string): boolean => before < tag && keyOf(before) !== keyOf(tag);
  const isNormal = tags.every((tag, i) => TAG.test(tag) && (i === 0 || follows(tag, tags[i - 1]!)));
  if (isNormal) return tags.length < TAGS_MAX ? value : tags.join(',');
  const tagByKey = new Map(tags.filter((tag) => TAG.test(tag)).map((tag) => [keyOf(tag), tag]));
  return [...tagByKey.values()].sort().join(',');
}
