/** Serves `/metrics` on a separate port, for installations whose ingress exposes every path of the API port. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './metrics.js';

const REQUEST_TIMEOUT_MS = 10_000;

export class MetricsServer {
  readonly #server: Server;

  constructor(metrics: Metrics) {
    this.#server = createServer((request, response) => {
      if (request.url?.split('?')[0] !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      metrics.registry.metrics().then(
        (text) => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
    });
    this.#server.requestTimeout = REQUEST_TIMEOUT_MS;
    this.#server.headersTimeout = REQUEST_TIMEOUT_MS;
  }

  /** Resolves with the port; rejects with the listen error. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
