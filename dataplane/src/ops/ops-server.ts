/**
 * Serves `/metrics`, `/healthz` and `/readyz` on a separate port, never on the agents' port (docs/contract.md#metrics).
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface OpsSource {
  /** Metrics in the Prometheus text format. */
  metrics(): Promise<string>;
  /** Null: ready to serve; else the reason. */
  notReadyReason(): string | null;
}

const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8';
const REQUEST_TIMEOUT_MS = 10_000;

export class OpsServer {
  readonly #source: OpsSource;
  readonly #server: Server;

  constructor(source: OpsSource) {
    this.#source = source;
    this.#server = createServer((request, response) => void this.#answer(request.url ?? '', response));
    this.#server.requestTimeout = REQUEST_TIMEOUT_MS;
    this.#server.headersTimeout = REQUEST_TIMEOUT_MS;
  }

  /** Resolves with the port; rejects with the listen error. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.removeListener('error', reject);
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(url: string, response: ServerResponse): Promise<void> {
    const queryStart = url.indexOf('?');
    switch (queryStart === -1 ? url : url.slice(0, queryStart)) {
      case '/healthz':
        send(response, 200, 'application/json', '{"status":"ok"}');
        return;
      case '/readyz': {
        const reason = this.#source.notReadyReason();
        const body = reason === null ? { status: 'ready' } : { status: 'not_ready', reason };
        send(response, reason === null ? 200 : 503, 'application/json', JSON.stringify(body));
        return;
      }
      case '/metrics':
        await this.#answerMetrics(response);
        return;
      default:
        send(response, 404, 'application/json', '{"error":"Not found"}');
    }
  }

  async #answerMetrics(response: ServerResponse): Promise<void> {
    try {
      send(response, 200, PROMETHEUS_TEXT, await this.#source.metrics());
    } catch {
      send(response, 500, 'application/json', '{"error":"The metrics cannot be read"}');
    }
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(body);
}
