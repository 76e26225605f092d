/**
 * TCP listeners of the gRPC port. The gRPC library has no connection limits and does not expose its sockets, so this
 * class opens the port and passes each connection to the library. A host name listens on all of its addresses, as with
 * the library.
 */

import { once } from 'node:events';
import { type AddressInfo, createServer, isIP, type Server, type Socket } from 'node:net';
import { OperatorNameResolver } from '@acg/base/dns/operator-name-resolver';
import { noop } from '@acg/base/noop';

/** Connection limits, installed on each server before it listens. */
interface ConnectionLimiter {
  install(server: Server): void;
}

const HOST_AND_PORT = /^\[?(?<host>.*?)\]?:(?<port>\d+)$/;

export class GrpcListener {
  readonly #servers: Server[] = [];
  readonly #connectionLimits: ConnectionLimiter;
  readonly #onConnection: (socket: Socket) => void;

  constructor(connectionLimits: ConnectionLimiter, onConnection: (socket: Socket) => void) {
    this.#connectionLimits = connectionLimits;
    this.#onConnection = onConnection;
  }

  /** `listen`: `host:port`; port 0 picks a free port. Resolves with the port. Rejects if no address can be bound. */
  async listen(listen: string): Promise<number> {
    const { host = '', port = '0' } = HOST_AND_PORT.exec(listen)?.groups ?? {};
    const addresses = isIP(host) === 0 ? await resolveAddresses(host) : [host];
    let bound = Number(port);
    let failure: unknown = null;
    for (const address of addresses) {
      try {
        bound = await this.#listenOn(address, bound);
      } catch (error) {
        failure = error;
      }
    }
    if (this.#servers.length === 0) throw failure;
    return bound;
  }

  /** Stops accepting connections; open ones stay. */
  close(): void {
    for (const server of this.#servers) server.close();
  }

  async #listenOn(host: string, port: number): Promise<number> {
    const server = createServer({ noDelay: true });
    this.#connectionLimits.install(server);
    server.on('connection', (socket) => {
      if (!socket.destroyed) this.#onConnection(socket);
    });
    server.listen(port, host);
    await once(server, 'listening');
    server.on('error', noop); // an error of one accept; the next connection is accepted again
    this.#servers.push(server);
    return (server.address() as AddressInfo).port;
  }
}

async function resolveAddresses(hostname: string): Promise<readonly string[]> {
  try {
    return (await new OperatorNameResolver().resolve(hostname)).map(({ address }) => address);
  } catch (error) {
    throw Object.assign(error as Error, { hostname }); // named in the message of the failed start
  }
}
