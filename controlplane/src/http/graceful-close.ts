/**
 * Graceful shutdown that no client can delay. A server ends only when its last connection has ended, and an idle or
 * stalled client could keep one open indefinitely. The process would then be killed before the later shutdown steps,
 * which release what other processes wait for.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

interface ClosableApp {
  readonly server: Server;
  close(): PromiseLike<unknown>;
}

/** For a request that is already in flight on a new connection. */
const FIRST_REQUEST_GRACE_MS = 1_000;

/**
 * The returned function waits up to `withinMs` for requests to finish, and resolves when all connections have ended.
 */
export function createGracefulClose(app: ClosableApp): (withinMs: number) => Promise<void> {
  /** Connections that have not sent a request yet. */
  const withoutRequest = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    withoutRequest.add(socket);
    socket.once('close', () => withoutRequest.delete(socket));
  });
  app.server.on('request', ({ socket }: IncomingMessage) => withoutRequest.delete(socket));
  return async (withinMs) => {
    const silentTimer = setTimeout(() => {
      for (const socket of withoutRequest) socket.destroy();
    }, FIRST_REQUEST_GRACE_MS);
    const deadlineTimer = setTimeout(() => app.server.closeAllConnections(), withinMs);
    await app.close();
    clearTimeout(silentTimer);
    clearTimeout(deadlineTimer);
  };
}
