/**
 * A stop that no client holds up. The server has ended when its last connection has, and one on which nothing was asked
 * yet, or whose client sends or takes nothing, stays for as long as it likes: then the process would be ended in the
 * middle, before what comes after this has given back what other processes wait for.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

interface ClosableApp {
  readonly server: Server;
  close(): PromiseLike<unknown>;
}

/** For a request that is on its way on a new connection. */
const FIRST_REQUEST_GRACE_MS = 1_000;

/** The returned function lets requests finish for `withinMs`, and resolves when all connections have ended. */
export function createGracefulClose(app: ClosableApp): (withinMs: number) => Promise<void> {
  /** Connections without a request so far. */
  const unasked = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    unasked.add(socket);
    socket.once('close', () => unasked.delete(socket));
  });
  app.server.on('request', ({ socket }: IncomingMessage) => unasked.delete(socket));
  return async (withinMs) => {
    const endUnasked = setTimeout(() => {
      for (const socket of unasked) socket.destroy();
    }, FIRST_REQUEST_GRACE_MS);
    const endAll = setTimeout(() => app.server.closeAllConnections(), withinMs);
    await app.close();
    clearTimeout(endUnasked);
    clearTimeout(endAll);
  };
}
