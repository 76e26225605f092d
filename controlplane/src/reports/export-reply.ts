/** Answers with an export: a file that streams. */
import type { ChunkGarbage } from '@acg/base/chunk-garbage';
import type { FastifyReply } from 'fastify';
import { type ExportOf, exportLogs } from './export.js';
import type { ExportFormat } from './export-store.js';
import type { QueryGate } from './query-gate.js';

const CONTENT_TYPE = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
} as const;

export interface ExportSender {
  readonly gate: QueryGate;
  readonly garbage: ChunkGarbage;
}

/** `name`: of the file, between `usage-` and its ending. */
export function sendExport(
  reply: FastifyReply,
  { gate, garbage }: ExportSender,
  name: string,
  what: Omit<ExportOf, 'format'> & { readonly format: ExportFormat | undefined },
): FastifyReply {
  const format = what.format ?? 'json';
  const stream = exportLogs(gate, garbage, { ...what, format });
  return reply
    .header('content-type', CONTENT_TYPE[format])
    .header('content-disposition', `attachment; filename="usage-${name}.${format}"`)
    .send(stream);
}
