/**
 * A provider for trials and tests: a real HTTP server with the provider's wire format. It accepts only the real
 * credential, records every request and fails on demand. One subclass per provider.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Fault, type StandInResponse, sendResponse, utf8 } from './stand-in-response.js';

/** One request as it was received. */
export interface ReceivedRequest {
  readonly method: string;
  /** The raw request target. */
  readonly target: string;
  /** Raw path without the query. */
  readonly path: string;
  /** Raw query without `?`. */
  readonly query: string;
  /** Header names and values unchanged, in order: `[name, value, …]`. */
  readonly rawHeaders: readonly string[];
  /** Lower-case names; repeated ones joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body; empty beyond {@link MAX_RECORDED_BODY_BYTES}. */
  readonly body: Buffer;
  readonly bodyBytes: number;
}

/** Null: the body is no JSON object. */
export function parseJsonObject({ body }: ReceivedRequest): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}

const MAX_RECORDED_BODY_BYTES = 64 * 1024 * 1024;

export abstract class StandInProvider {
  /** Every request whose body arrived completely, including the rejected ones. */
  readonly requests: ReceivedRequest[] = [];
  /** False for long runs, whose memory the requests would fill. */
  recordsRequests = true;
  /** From the end of a request to its response. */
  latencyMs = 0;
  /** Number of requests whose client disconnected before the response was complete. */
  aborted = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  readonly #faults: Fault[] = [];
  #waiting: (() => void)[] = [];
  #changed: (() => void)[] = [];

  constructor() {
    this.#server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, (request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        if (!response.headersSent) response.writeHead(500);
        response.end(`stand-in failed: ${String(error)}`);
      });
    });
    this.#server.on('connection', (socket: Socket) => this.#track(socket));
    this.#server.on('upgrade', (request, socket, head) => this.upgrade(request, socket, head));
  }

  /** Responds to one request; the subclass checks the credential. */
  protected abstract respond(request: ReceivedRequest): StandInResponse | Promise<StandInResponse>;

  /** Called when the whole response was handed to the network. */
  protected onResponseSent(_request: ReceivedRequest): void {}

  /** WebSocket providers override this. */
  protected upgrade(_request: IncomingMessage, socket: Duplex, _head: Buffer): void {
    socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  }

  /** `port` 0: any free port. */
  async start(port = 0): Promise<this> {
    await new Promise<void>((done, fail) => {
      this.#server.once('error', fail);
      this.#server.listen(port, '127.0.0.1', done);
    });
    return this;
  }

  /** `http://127.0.0.1:port`. */
  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The last request; throws when there was none. */
  get lastRequest(): ReceivedRequest {
    const request = this.requests.at(-1);
    if (request === undefined) throw new Error('the stand-in has seen no request');
    return request;
  }

  /** Applies a fault to the next `times` requests. */
  failNext(fault: Fault, times = 1): void {
    for (let i = 0; i < times; i++) this.#faults.push(fault);
  }

  /** Continues every hanging or stalled response. */
  releaseHangingResponses(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }

  /** Waits until `condition` returns true; checks it whenever a request begins, ends or is aborted. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((done) => this.#changed.push(done));
  }

  async close(): Promise<void> {
    this.releaseHangingResponses();
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((done) => this.#server.close(() => done()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('close', () => {
      if (!response.writableFinished) this.aborted++;
      this.#notify();
    });
    const seen = await readRequest(request);
    if (seen === null) return;
    if (this.recordsRequests) this.requests.push(seen);
    this.#notify();
    response.once('finish', () => this.onResponseSent(seen));
    const fault = this.#faults.shift() ?? {};
    if (this.latencyMs > 0) await sleep(this.latencyMs);
    if (fault.hang) await this.#waitForRelease();
    if (fault.reset) {
      request.socket.destroy();
      return;
    }
    const answer =
      fault.answer ?? (fault.echoInChunks ? echoHeaders(seen, fault.echoInChunks) : await this.respond(seen));
    await sendResponse(response, answer, fault, () => this.#waitForRelease());
  }

  #waitForRelease(): Promise<void> {
    return new Promise((done) => this.#waiting.push(done));
  }

  #notify(): void {
    const changed = this.#changed;
    this.#changed = [];
    for (const go of changed) go();
  }

  #track(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }
}

async function readRequest(request: IncomingMessage): Promise<ReceivedRequest | null> {
  const chunks: Buffer[] = [];
  let bodyBytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bodyBytes += chunk.length;
      if (bodyBytes <= MAX_RECORDED_BODY_BYTES) chunks.push(chunk);
    }
  } catch {
    return null; // the client disconnected while sending its body
  }
  const target = request.url ?? '';
  const question = target.indexOf('?');
  return {
    method: request.method ?? '',
    target,
    path: question === -1 ? target : target.slice(0, question),
    query: question === -1 ? '' : target.slice(question + 1),
    rawHeaders: request.rawHeaders,
    headers: joinHeaders(request.rawHeaders),
    body: bodyBytes <= MAX_RECORDED_BODY_BYTES ? Buffer.concat(chunks) : Buffer.alloc(0),
    bodyBytes,
  };
}

function joinHeaders(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    const earlier = headers[name];
    headers[name] = earlier === undefined ? rawHeaders[i + 1]! : `${earlier}, ${rawHeaders[i + 1]!}`;
  }
  return headers;
}

/** Responds with the request's own headers: a provider that leaks the credential. */
function echoHeaders(request: ReceivedRequest, chunkBytes: number): StandInResponse {
  const headers = Object.entries(request.headers).map(([name, value]) => [`x-echo-${name}`, value] as const);
  const whole = utf8(JSON.stringify({ headers: request.headers, target: request.target }));
  const body: Buffer[] = [];
  for (let at = 0; at < whole.length; at += chunkBytes) body.push(whole.subarray(at, at + chunkBytes));
  return { status: 200, headers: [['content-type', 'application/json'], ...headers], body };
}
