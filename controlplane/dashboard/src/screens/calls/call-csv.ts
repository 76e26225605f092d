/** Saves every call that matches the filters as CSV, with names and ids. */
import { sharedFieldsOf } from '../../components/reports/merged-call.js';
import { saveCsv, toCsv } from '../../format/csv.js';
import { type CallFilters, costUsdOf, fetchCallsToExport, toApiFilters } from './fetch-calls-and-format-fields.js';

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
