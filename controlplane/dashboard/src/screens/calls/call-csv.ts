/** Saves the listed calls as CSV, with names and ids. */
import { saveCsv, toCsv } from '../../format/csv.js';
import { type CallRow, costUsdOf } from './fetch-calls-and-format-fields.js';

const HEADER = [
  'createdAt',
  'agent',
  'agentId',
  'project',
  'gatewayToken',
  'provider',
  'method',
  'path',
  'status',
  'model',
  'tokensIn',
  'tokensOut',
  'costUsd',
  'durationMs',
  'requestId',
];

export function saveCallsCsv(calls: readonly CallRow[]): void {
  const rows = calls.map((call) => [
    call.createdAt,
    call.agentName ?? '',
    call.agentId,
    call.projectName ?? '',
    call.keyName ?? call.keyPrefix ?? '',
    call.providerSlug,
    call.method,
    call.path,
    call.status,
    call.model ?? '',
    call.tokensIn,
    call.tokensOut,
    costUsdOf(call),
    call.durationMs,
    call.requestId,
  ]);
  saveCsv('calls.csv', toCsv(HEADER, rows));
}
