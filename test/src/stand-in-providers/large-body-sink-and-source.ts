/**
 * A custom provider for bodies of any size: `PUT /sink` counts and hashes the body without storing it, `GET
 * /source/{bytes}` streams a repeatable pattern, every other request echoes its target. Checks no credential.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const BLOCK = Buffer.alloc(64 * 1024, 'acg-pattern-');

export class LargeBodyProvider {
  readonly #server: Server;
  /** Bytes of upload bodies read so far, over all requests. */
  received = 0;
  /** Bytes of download bodies written so far, over all requests. */
  sent = 0;

  constructor() {
    this.#server = createServer({ requestTimeout: 0 }, (request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return this;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((done) => this.#server.close(() => done()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const source = /^\/source\/(\d+)$/.exec(request.url ?? '');
    if (source !== null) return this.#source(Number(source[1]), response);
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
      this.received += chunk.length;
    }
    response.setHeader('content-type', 'application/json');
    const { method, url: target } = request;
    response.end(JSON.stringify({ method, target, bytes, sha256: hash.digest('hex') }));
  }

  async #source(length: number, response: ServerResponse): Promise<void> {
    response.setHeader('content-length', length);
    response.setHeader('content-type', 'application/octet-stream');
    for (let left = length; left > 0 && !response.destroyed; left -= BLOCK.length) {
      const block = left < BLOCK.length ? BLOCK.subarray(0, left) : BLOCK;
      this.sent += block.length;
      if (!response.write(block)) await waitForDrain(response);
    }
    response.end();
  }
}

function waitForDrain(response: ServerResponse): Promise<void> {
  return new Promise((done) => {
    const go = (): void => {
      response.off('drain', go).off('close', go);
      done();
    };
    response.on('drain', go).on('close', go);
  });
}

/** SHA-256 of the first `length` bytes of a `/source` response. */
export function sourceSha256(length: number): string {
  const hash = createHash('sha256');
  for (let left = length; left > 0; left -= BLOCK.length) {
    hash.update(left < BLOCK.length ? BLOCK.subarray(0, left) : BLOCK);
  }
  return hash.digest('hex');
}
