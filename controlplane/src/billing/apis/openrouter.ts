/**
 * OpenRouter's activity API (https://openrouter.ai/docs/api/api-reference/analytics): requests, tokens and cost per day,
 * key and model, for the last 30 completed days. A key's hash is the SHA-256 of the key.
 */
import { createHash } from 'node:crypto';
import { DAY_MS, NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { DayRange, ProviderReport, ReportedKey, ReportedUsage } from '../report/provider-report.js';
import { countOf, listOf, nanosOf, type ReportClient, ReportProblem, textOf } from './report-client.js';

const NANOS_PER_USD = 100 * NANOS_PER_CENT;
/** Completed days; older ones are not reported. */
export const OPENROUTER_REPORTED_DAYS = 30;
const KEYS_PER_PAGE = 100;
const KEYS_MAX = 1_000;

export const openRouterHeaders = (managementKey: string) => ({ authorization: `Bearer ${managementKey}` });

export async function readOpenRouterReport(
  client: ReportClient,
  { fromMs, toMs }: DayRange,
  nowMs: number,
): Promise<ProviderReport> {
  const keys = await listKeys(client);
  const today = nowMs - (nowMs % DAY_MS);
  const usage: ReportedUsage[] = [];
  for (
    let dayMs = Math.max(fromMs, today - OPENROUTER_REPORTED_DAYS * DAY_MS);
    dayMs < Math.min(toMs, today);
    dayMs += DAY_MS
  )
    for (const { id } of keys) usage.push(...(await readDay(client, dayMs, id)));
  return { keys, usage, costs: [] };
}

async function readDay(client: ReportClient, dayMs: number, keyId: string): Promise<readonly ReportedUsage[]> {
  const date = new Date(dayMs).toISOString().slice(0, 10);
  const query = [
    ['date', date],
    ['api_key_hash', keyId],
  ] as const;
  return listOf(await client.get('/api/v1/activity', query), 'data', '/api/v1/activity').map((row) => ({
    startMs: dayMs,
    keyId,
    model: textOf(row, 'model'),
    tokens: {
      input: countOf(row, 'prompt_tokens'),
      cacheRead: 0,
      cacheWrite: 0,
      cacheWrite1h: 0,
      output: countOf(row, 'completion_tokens'),
    },
    requests: countOf(row, 'requests'),
    costNanos: nanosOf(row.usage, NANOS_PER_USD),
  }));
}

/** A list that changes while it is read may answer a key twice: its usage must be read once. */
async function listKeys(client: ReportClient): Promise<readonly ReportedKey[]> {
  const keys = new Map<string, ReportedKey>();
  for (let offset = 0; offset < KEYS_MAX; offset += KEYS_PER_PAGE) {
    const rows = listOf(await client.get('/api/v1/keys', [['offset', String(offset)]]), 'data', '/api/v1/keys');
    const before = keys.size;
    for (const row of rows) {
      const id = textOf(row, 'hash');
      const matches = (secret: string) => createHash('sha256').update(secret).digest('hex') === id;
      keys.set(id, { id, label: textOf(row, 'label'), matches });
    }
    if (rows.length < KEYS_PER_PAGE) return [...keys.values()];
    if (keys.size === before) throw new ReportProblem('/api/v1/keys answered the same page twice: check again later');
  }
  throw new ReportProblem(`the organization has more than ${KEYS_MAX} keys at OpenRouter`);
}
