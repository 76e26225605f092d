/**
 * The TCP listeners of the gRPC port. The gRPC library bounds no connections and shows none of its sockets, so the port is
 * opened here and each connection handed over. A host name listens on all of its addresses, as the library does.
 */

import { once } from 'node:events';
import { type AddressInfo, createServer, isIP, type Server, type Socket } from 'node:net';
import { OperatorNameResolver } from '@acg/base/dns/operator-name-resolver';
import { noop } from '@acg/base/noop';

/** Installed on each server before it listens. */
interface ConnectionBounds {
  install(server: Server): void;
}

const HOST_AND_PORT = /^\[?(?<host>.*?)\]?:(?<port>\d+)$/;

export class GrpcListener {
  readonly #servers: Server[] = [];
  readonly #bounds: ConnectionBounds;
  readonly #onConnection: (socket: Socket) => void;

  constructor(bounds: ConnectionBounds, onConnection: (socket: Socket) => void) {
    this.#bounds = bounds;
    this.#onConnection = onConnection;
  }

  /** `listen`: `host:port`, port 0 for any. Resolves with the port; rejects when none of the addresses can be had. */
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

  /** Takes no new connections; those that are open stay. */
  close(): void {
    for (const server of this.#servers) server.close();
  }

  async #listenOn(host: string, port: number): Promise<number> {
    const server = createServer({ noDelay: true });
    this.#bounds.install(server);
    server.on('connection', (socket) => {
      if (!socket.destroyed) this.#onConnection(socket);
    });
    server.listen(port, host);
    await once(server, 'listening');
    server.on('error', noop); // of one accept: the next connection is accepted again
    this.#servers.push(server);
    return (server.address() as AddressInfo).port;
  }
}

async function resolveAddresses(hostname: string): Promise<readonly string[]> {
  try {
    return (await new OperatorNameResolver().resolve(hostname)).map(({ address }) => address);
  } catch (error) {
    throw Object.assign(error as Error, { hostname }); // for the message of a start that fails
  }
}
