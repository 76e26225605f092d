/** Saves the listed calls as CSV, with names and ids. */
import { sharedFieldsOf } from '../../components/reports/merged-call.js';
import { saveCsv, toCsv } from '../../format/csv.js';
import { type CallRow, costUsdOf } from './fetch-calls-and-format-fields.js';

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

export function saveCallsCsv(calls: readonly CallRow[]): void {
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
  saveCsv('calls.csv', toCsv(HEADER, rows));
}
