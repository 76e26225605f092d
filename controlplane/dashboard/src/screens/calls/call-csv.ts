/** Saves every call that matches the filters as CSV, with names and ids. */

import { api } from '../../api/api-client.js';
import { sharedFieldsOf } from '../../components/reports/merged-call.js';
import { saveCsv, toCsv } from '../../format/csv.js';
import {
  type ApiCallFilters,
  type CallFilters,
  type CallPage,
  type CallRow,
  costUsdOf,
  EXPORT_ROWS_MAX,
  LIVE_PAGE_SIZE,
  toApiFilters,
} from './fetch-calls-and-format-fields.js';

/** A bound for the control plane: a search with few matches needs many requests. */
const EXPORT_REQUESTS_MAX = 200;

const NAME_CHARS_MAX = 120;

const HEADER = [
  'state',
  'createdAt',
  'agent',
  'agentId',
  'project',
  'gatewayToken',
  'provider',
  'method',
  'path',
  'status',
  'reason',
  'model',
  'tokensIn',
  'tokensOut',
  'costUsd',
  'durationMs',
  'requestId',
  'clientNetwork',
];

interface CallExport {
  readonly calls: readonly CallRow[];
  /** False: a bound ended the export, and older calls may match. */
  readonly isComplete: boolean;
}

/** Every call that matches, newest first, up to {@link EXPORT_ROWS_MAX}. */
async function fetchCallsToExport(filters: ApiCallFilters): Promise<CallExport> {
  const calls: CallRow[] = [];
  let cursor: string | null = '';
  for (
    let requests = 0;
    cursor !== null && requests < EXPORT_REQUESTS_MAX && calls.length < EXPORT_ROWS_MAX;
    requests++
  ) {
    const from: string = cursor;
    const page: CallPage = await api.get('/v1/usage/calls', {
      params: { query: { ...filters, limit: LIVE_PAGE_SIZE, ...(from === '' ? {} : { cursor: from }) } },
    });
    calls.push(...page.calls);
    cursor = page.nextCursor;
  }
  return { calls, isComplete: cursor === null };
}

interface SavedCalls {
  /** Rows of the file. */
  readonly count: number;
  /** False: older calls that match may be missing. */
  readonly isComplete: boolean;
}

/** `filterTexts`: the filters in words, for the name of the file. */
export async function exportCalls(values: CallFilters, filterTexts: readonly string[]): Promise<SavedCalls> {
  const { calls, isComplete } = await fetchCallsToExport(toApiFilters(values));
  const rows = calls.map((call) => {
    const { forwarded, rejected } = call;
    const { agentName, agentId, keyName, keyPrefix, providerSlug, method, path, status, model } = sharedFieldsOf(call);
    return [
      call.state,
      call.at,
      agentName ?? '',
      agentId,
      forwarded?.projectName ?? '',
      keyName ?? keyPrefix ?? '',
      providerSlug ?? '',
      method,
      path,
      status,
      rejected?.reason ?? '',
      model ?? '',
      forwarded?.tokensIn ?? 0,
      forwarded?.tokensOut ?? 0,
      costUsdOf(call) ?? 0,
      forwarded?.durationMs ?? '',
      forwarded?.requestId ?? call.id,
      rejected?.clientNetwork ?? '',
    ];
  });
  saveCsv(fileName(filterTexts), toCsv(HEADER, rows));
  return { count: rows.length, isComplete };
}

/** `calls-agent-support-bot.csv`. */
function fileName(filterTexts: readonly string[]): string {
  const words =
    ['calls', ...filterTexts]
      .join(' ')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return `${words.join('-').slice(0, NAME_CHARS_MAX)}.csv`;
}
