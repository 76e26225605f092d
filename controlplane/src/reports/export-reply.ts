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

/** `name`: of the file, between `usage-` and its ending. Throws when too many are open. */
export function sendExport(
  reply: FastifyReply,
  { gate, garbage }: ExportSender,
  name: string,
  what: Omit<ExportOf, 'format'> & { readonly format: ExportFormat | undefined },
): FastifyReply {
  const { actor } = reply.request;
  const done = gate.openExport(actor.orgId, actor.userId);
  // Until the client has it, or is gone: what was read and is not taken yet lies in memory.
  if (reply.raw.destroyed) done();
  else reply.raw.once('close', done);
  const format = what.format ?? 'json';
  const stream = exportLogs(gate, garbage, { ...what, format });
  return reply
    .header('content-type', CONTENT_TYPE[format])
    .header('content-disposition', `attachment; filename="usage-${name}.${format}"`)
    .send(stream);
}
