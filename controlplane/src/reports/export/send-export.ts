/** Answers with an export: a file that streams. */
import type { MinorGcPacer } from '@acg/base/minor-gc-pacer';
import type { FastifyReply } from 'fastify';
import type { QueryConcurrencyLimiter } from '../query/query-concurrency-limiter.js';
import type { ExportFormat } from './export-store.js';
import { createExportStream, type ExportRequest } from './export-stream.js';

const CONTENT_TYPE = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
} as const;

export interface ExportContext {
  readonly gate: QueryConcurrencyLimiter;
  readonly gcPacer: MinorGcPacer;
}

/** `name`: of the file, between `usage-` and its ending. Throws when too many are open. */
export function sendExport(
  reply: FastifyReply,
  { gate, gcPacer: garbage }: ExportContext,
  name: string,
  what: Omit<ExportRequest, 'format'> & { readonly format: ExportFormat | undefined },
): FastifyReply {
  const { actor } = reply.request;
  const done = gate.openExport(actor.orgId, actor.userId);
  const format = what.format ?? 'json';
  const stream = createExportStream(gate, garbage, { ...what, format });
  if (reply.request.method === 'HEAD') stream.destroy(); // it would be read for nobody, however long it is
  const asked = new Promise<void>((ended) => stream.once('close', ended));
  // What was read and is not taken yet lies in memory, and a run that waits to be asked for is work, whoever still reads.
  void Promise.all([asked, waitForResponseClose(reply).then(() => stream.destroy())]).then(done);
  return reply
    .header('content-type', CONTENT_TYPE[format])
    .header('content-disposition', `attachment; filename="usage-${name}.${format}"`)
    .send(stream);
}

/** The client has all of it, or is gone. An answer that waits behind others of its connection is not told of its end. */
function waitForResponseClose({ raw, request }: FastifyReply): Promise<void> {
  const { socket } = request.raw;
  return new Promise((resolve) => {
    const end = (): void => {
      socket.off('close', end);
      resolve();
    };
    socket.once('close', end);
    raw.once('close', end);
    if (socket.destroyed) end();
  });
}
