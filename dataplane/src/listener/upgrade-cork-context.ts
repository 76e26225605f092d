/**
 * uWebSockets workaround: a pending response, to a request of this process to itself, whose `cork` serves as a context.
 * The server requires a WebSocket upgrade to run inside some response's `cork`, but not that of the upgraded response
 * (UWS.md).
 */

import uws, { type HttpResponse, type TemplatedApp, type us_listen_socket } from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';

export class UpgradeCorkContext {
  readonly #app: TemplatedApp = uws.App();
  #client: Socket | null = null;
  #res: HttpResponse | null = null;

  /** Resolves when the response is pending. The listen socket is closed then, so no other client can connect. */
  start(): Promise<void> {
    const path = `/${randomUUID()}`;
    return new Promise((resolve, reject) => {
      let listener: us_listen_socket | null = null;
      this.#app.any('/*', (res, req) => {
        if (req.getUrl() !== path) {
          res.close();
          return;
        }
        res.onAborted(() => {
          this.#res = null;
        });
        this.#res = res;
        uws.us_listen_socket_close(listener!);
        resolve();
      });
      this.#app.listen('127.0.0.1', 0, (socket) => {
        if (socket === false) {
          reject(new Error('cannot listen on 127.0.0.1'));
          return;
        }
        listener = socket;
        const client = connect(uws.us_socket_local_port(socket as never), '127.0.0.1').unref();
        client.once('error', reject);
        client.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
        this.#client = client;
      });
    });
  }

  /** Runs `work` inside the `cork`: bytes that it writes to other connections are sent at once. */
  cork(work: () => void): void {
    if (this.#res === null) throw new Error('the cork context is closed');
    this.#res.cork(work);
  }

  close(): void {
    this.#client?.destroy();
    this.#app.close();
  }
}
