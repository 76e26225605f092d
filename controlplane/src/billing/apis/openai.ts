/**
 * OpenAI's usage and costs APIs (https://platform.openai.com/docs/api-reference/usage): tokens per hour, key and model;
 * costs per day and line item. Line items of tokens are named `model, input`, `model, cached input` or `model, output`.
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
const DAYS_PER_PAGE = '180';
const NANOS_PER_USD = 100 * NANOS_PER_CENT;
const LISTED_PAGES_MAX = 100;

export const openAiHeaders = (adminKey: string) => ({ authorization: `Bearer ${adminKey}` });

export async function readOpenAiReport(client: ReportClient, { fromMs, toMs }: DayRange): Promise<ProviderReport> {
  const range = [
    ['start_time', String(fromMs / 1_000)],
    ['end_time', String(toMs / 1_000)],
  ] as const;
  const byKeyAndModel = [
    ...range,
    ['bucket_width', '1h'],
    ['limit', HOURS_PER_PAGE],
    ['group_by', 'api_key_id'],
    ['group_by', 'model'],
  ] as const;
  const usage: ReportedUsage[] = [];
  for (const kind of ['completions', 'embeddings']) {
    const path = `/v1/organization/usage/${kind}`;
    for (const bucket of await client.pages(path, byKeyAndModel, startOf))
      for (const row of listOf(bucket, 'results', path)) usage.push(toUsage(bucket, row));
  }
  const path = '/v1/organization/costs';
  const costs: ReportedCost[] = [];
  const costQuery = [...range, ['bucket_width', '1d'], ['limit', DAYS_PER_PAGE], ['group_by', 'line_item']] as const;
  for (const bucket of await client.pages(path, costQuery, startOf))
    for (const row of listOf(bucket, 'results', path)) costs.push(toCost(bucket, row));
  return { keys: await listKeys(client), usage, costs };
}

/** NaN: the bucket has no start. */
const startOf = ({ start_time: start }: Json): number => (typeof start === 'number' ? start * 1_000 : Number.NaN);

function toUsage(bucket: Json, row: Json): ReportedUsage {
  const input = countOf(row, 'input_tokens');
  const cacheRead = Math.min(input, countOf(row, 'input_cached_tokens'));
  return {
    startMs: startOf(bucket),
    keyId: textOf(row, 'api_key_id'),
    model: textOf(row, 'model'),
    tokens: {
      input: input - cacheRead,
      cacheRead,
      cacheWrite: 0,
      cacheWrite1h: 0,
      output: countOf(row, 'output_tokens'),
    },
    requests: countOf(row, 'num_model_requests'),
    costNanos: null,
  };
}

const CLASS_OF_ITEM: Readonly<Record<string, TokenClass>> = {
  input: 'input',
  'cached input': 'cacheRead',
  output: 'output',
};

function toCost(bucket: Json, row: Json): ReportedCost {
  const item = textOf(row, 'line_item');
  const comma = item.lastIndexOf(', ');
  const tokenClass = CLASS_OF_ITEM[item.slice(comma + 2).toLowerCase()] ?? null;
  const amount = (row.amount ?? null) as Json | null;
  if (amount !== null && textOf(amount, 'currency').toLowerCase() !== 'usd')
    throw new ReportProblem('/v1/organization/costs answers another currency than USD, which cannot be compared');
  return {
    dayMs: startOf(bucket),
    model: comma === -1 || tokenClass === null ? item : item.slice(0, comma),
    tokenClass: comma === -1 ? null : tokenClass,
    nanos: amount === null ? 0 : nanosOf(amount.value, NANOS_PER_USD),
  };
}

/** Keys of all projects, archived ones included: they may have usage in the range. */
async function listKeys(client: ReportClient): Promise<readonly ReportedKey[]> {
  const keys: ReportedKey[] = [];
  const projects = await listAll(client, '/v1/organization/projects', [['include_archived', 'true']]);
  for (const project of projects) {
    for (const key of await listAll(
      client,
      `/v1/organization/projects/${encodeURIComponent(textOf(project, 'id'))}/api_keys`,
      [],
    )) {
      const label = textOf(key, 'redacted_value');
      keys.push({ id: textOf(key, 'id'), label, matches: (secret) => matchesRedacted(label, secret) });
    }
  }
  return keys;
}

/** Lists of objects continue after the id of their last row. */
async function listAll(
  client: ReportClient,
  path: string,
  query: ReadonlyArray<readonly [string, string]>,
): Promise<readonly Json[]> {
  const rows: Json[] = [];
  const cursors = new PageCursors(path);
  let after: ReadonlyArray<readonly [string, string]> = [];
  for (let pages = 0; pages < LISTED_PAGES_MAX; pages++) {
    const body = await client.get(path, [...query, ['limit', '100'], ...after]);
    const page = listOf(body, 'data', path);
    rows.push(...page);
    if (body.has_more !== true) return rows;
    after = [['after', cursors.next(page.at(-1)?.id)]];
  }
  throw new ReportProblem(`${path} has more than ${LISTED_PAGES_MAX} pages`);
}
