/** Responds with an export as a streamed file. */
import type { MinorGcPacer } from '@acg/base/minor-gc-by-buffer-bytes';
import type { FastifyReply } from 'fastify';
import type { QueryConcurrencyLimiter } from '../query/query-concurrency-limiter.js';
import type { ExportFormat } from './export-store.js';
import { createExportStream, type ExportRequest } from './export-stream.js';

const CONTENT_TYPE = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
} as const;

export interface ExportContext {
  readonly queryLimiter: QueryConcurrencyLimiter;
  readonly gcPacer: MinorGcPacer;
}

/**
 * `name`: part of the file name between `usage-` and the extension. Throws `TooManyAttempts` if too many exports are
 * open.
 */
export function sendExport(
  reply: FastifyReply,
  { queryLimiter, gcPacer }: ExportContext,
  name: string,
  request: Omit<ExportRequest, 'format'> & { readonly format: ExportFormat | undefined },
): FastifyReply {
  const { actor } = reply.request;
  const closeExport = queryLimiter.openExport(actor.orgId, actor.userId);
  const format = request.format ?? 'json';
  const stream = createExportStream(queryLimiter, gcPacer, { ...request, format });
  if (reply.request.method === 'HEAD') stream.destroy(); // nothing reads the body of a HEAD response
  const streamClosed = new Promise<void>((ended) => stream.once('close', ended));
  // Counts as open until both have ended: unread data occupies memory, and a waiting batch query is work even after the
  // client has left.
  void Promise.all([streamClosed, waitForResponseClose(reply).then(() => stream.destroy())]).then(closeExport);
  return reply
    .header('content-type', CONTENT_TYPE[format])
    .header('content-disposition', `attachment; filename="usage-${name}.${format}"`)
    .send(stream);
}

/**
 * Resolves when the client has received the response or has disconnected. A response that waits behind others on its
 * connection emits no `close` event, so this listens on the socket, too.
 */
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
