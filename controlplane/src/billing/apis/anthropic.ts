/**
 * Anthropic's Usage and Cost Admin API (https://platform.claude.com/docs/en/api/admin): tokens per hour, key and model;
 * costs per day, model and token type. It counts no requests. Amounts are decimal texts in cents.
 */
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import {
  type DayRange,
  matchesRedacted,
  type ProviderReport,
  type ReportedCost,
  type ReportedKey,
  type ReportedUsage,
  type TokenClass,
} from '../report/provider-report.js';
import {
  countOf,
  type Json,
  listOf,
  nanosOf,
  PageCursors,
  type ReportClient,
  ReportProblem,
  textOf,
} from './report-client.js';

const HOURS_PER_PAGE = '168';
const DAYS_PER_PAGE = '31';
const LISTED_PAGES_MAX = 100;

export const anthropicHeaders = (adminKey: string) => ({ 'x-api-key': adminKey, 'anthropic-version': '2023-06-01' });

export async function readAnthropicReport(client: ReportClient, { fromMs, toMs }: DayRange): Promise<ProviderReport> {
  const range = [
    ['starting_at', new Date(fromMs).toISOString()],
    ['ending_at', new Date(toMs).toISOString()],
  ] as const;
  const usagePath = '/v1/organizations/usage_report/messages';
  const usageQuery = [
    ...range,
    ['bucket_width', '1h'],
    ['limit', HOURS_PER_PAGE],
    ['group_by[]', 'api_key_id'],
    ['group_by[]', 'model'],
  ] as const;
  const usage: ReportedUsage[] = [];
  for (const bucket of await client.pages(usagePath, usageQuery, startOf))
    for (const row of listOf(bucket, 'results', usagePath)) usage.push(toUsage(bucket, row));
  const costPath = '/v1/organizations/cost_report';
  const costQuery = [
    ...range,
    ['bucket_width', '1d'],
    ['limit', DAYS_PER_PAGE],
    ['group_by[]', 'description'],
  ] as const;
  const costs: ReportedCost[] = [];
  for (const bucket of await client.pages(costPath, costQuery, startOf))
    for (const row of listOf(bucket, 'results', costPath)) costs.push(toCost(bucket, row));
  return { keys: await listKeys(client), usage, costs };
}

const startOf = (bucket: Json): number => Date.parse(textOf(bucket, 'starting_at'));

function toUsage(bucket: Json, row: Json): ReportedUsage {
  const created = (row.cache_creation ?? {}) as Json;
  return {
    startMs: startOf(bucket),
    keyId: textOf(row, 'api_key_id'),
    model: textOf(row, 'model'),
    tokens: {
      input: countOf(row, 'uncached_input_tokens'),
      cacheRead: countOf(row, 'cache_read_input_tokens'),
      cacheWrite: countOf(created, 'ephemeral_5m_input_tokens'),
      cacheWrite1h: countOf(created, 'ephemeral_1h_input_tokens'),
      output: countOf(row, 'output_tokens'),
    },
    requests: null,
    costNanos: null,
  };
}

const CLASS_OF_TYPE: Readonly<Record<string, TokenClass>> = {
  uncached_input_tokens: 'input',
  cache_read_input_tokens: 'cacheRead',
  'cache_creation.ephemeral_5m_input_tokens': 'cacheWrite',
  'cache_creation.ephemeral_1h_input_tokens': 'cacheWrite1h',
  output_tokens: 'output',
};

function toCost(bucket: Json, row: Json): ReportedCost {
  if (textOf(row, 'currency') !== 'USD')
    throw new ReportProblem(
      '/v1/organizations/cost_report answers another currency than USD, which cannot be compared',
    );
  const tokenClass = CLASS_OF_TYPE[textOf(row, 'token_type')] ?? null;
  return {
    dayMs: startOf(bucket),
    model: tokenClass === null ? textOf(row, 'description') : textOf(row, 'model'),
    tokenClass,
    nanos: nanosOf(row.amount, NANOS_PER_CENT),
  };
}

async function listKeys(client: ReportClient): Promise<readonly ReportedKey[]> {
  const path = '/v1/organizations/api_keys';
  const keys: ReportedKey[] = [];
  const cursors = new PageCursors(path);
  let after: ReadonlyArray<readonly [string, string]> = [];
  for (let pages = 0; pages < LISTED_PAGES_MAX; pages++) {
    const body = await client.get(path, [['limit', '100'], ...after]);
    for (const key of listOf(body, 'data', path)) {
      const label = textOf(key, 'partial_key_hint');
      keys.push({ id: textOf(key, 'id'), label, matches: (secret) => matchesRedacted(label, secret) });
    }
    if (body.has_more !== true) return keys;
    after = [['after_id', cursors.next(body.last_id)]];
  }
  throw new ReportProblem(`${path} has more than ${LISTED_PAGES_MAX} pages`);
}
