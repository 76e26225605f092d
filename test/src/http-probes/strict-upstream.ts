/**
 * An upstream with the strictest HTTP/1.1 grammar. It reports everything outside of the grammar as a problem, because a
 * laxer provider might parse it differently (request smuggling).
 */

import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';

interface StrictRequest {
  readonly method: string;
  readonly target: string;
  /** `[lower-case name, value]` in order. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

const REQUEST_LINE = /^([A-Z]+) (\/[\x21\x22\x24-\x5b\x5d-\x7e]*) HTTP\/1\.1$/;
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+): ?([\t\x20-\x7e\x80-\xff]*)$/;
const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok');

export class StrictUpstream {
  readonly requests: StrictRequest[] = [];
  /** Bytes that no well-formed request would have caused. */
  readonly problems: string[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor() {
    this.#server = createServer((socket) => this.#serve(socket));
  }

  async start(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return this;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  reset(): void {
    this.requests.length = 0;
    this.problems.length = 0;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((done) => this.#server.close(() => done()));
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    let held = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('data', (chunk) => {
      held = Buffer.concat([held, chunk]);
      for (;;) {
        const used = this.#parseRequest(held);
        if (used === -1) socket.destroy();
        if (used <= 0) return;
        held = held.subarray(used);
        socket.write(ANSWER);
      }
    });
  }

  /** Bytes of the first complete request; 0 when more are needed; -1 when it is malformed. */
  #parseRequest(bytes: Buffer): number {
    const headEnd = bytes.indexOf('\r\n\r\n');
    if (headEnd === -1) return 0;
    const head = bytes.toString('latin1', 0, headEnd);
    const [requestLine = '', ...lines] = head.split('\r\n');
    const parts = REQUEST_LINE.exec(requestLine);
    const headers = lines.map((line) => HEADER.exec(line));
    if (parts === null || headers.includes(null)) return this.#reportProblem(`malformed head: ${JSON.stringify(head)}`);
    const pairs = headers.map((match) => [match![1]!.toLowerCase(), match![2]!] as const);
    const all = (name: string): string[] => pairs.filter(([key]) => key === name).map(([, value]) => value);
    const [lengths, codings] = [all('content-length'), all('transfer-encoding')];
    if (all('host').length !== 1 || all('host')[0] !== this.host) return this.#reportProblem(`host: ${all('host')}`);
    if (lengths.length > 1 || codings.length > 1 || lengths.length + codings.length > 1) {
      return this.#reportProblem(`framing: ${JSON.stringify(head)}`);
    }
    if (codings.length === 1 && codings[0] !== 'chunked') return this.#reportProblem(`coding: ${codings[0]}`);
    if (lengths.length === 1 && !/^\d{1,15}$/.test(lengths[0]!)) return this.#reportProblem(`length: ${lengths[0]}`);
    const start = headEnd + 4;
    const body =
      codings.length === 1
        ? this.#parseChunkedBody(bytes, start)
        : parseFixedBody(bytes, start, Number(lengths[0] ?? 0));
    if (body === -1) return -1;
    if (body === 0) return 0;
    this.requests.push({ method: parts[1]!, target: parts[2]!, headers: pairs, body: body.data });
    return body.end;
  }

  #parseChunkedBody(bytes: Buffer, start: number): { data: Buffer; end: number } | 0 | -1 {
    const data: Buffer[] = [];
    let at = start;
    for (;;) {
      const lineEnd = bytes.indexOf('\r\n', at);
      if (lineEnd === -1) return 0;
      const line = bytes.toString('latin1', at, lineEnd);
      if (!/^[0-9a-fA-F]{1,8}$/.test(line)) return this.#reportProblem(`chunk size: ${JSON.stringify(line)}`);
      const size = Number.parseInt(line, 16);
      at = lineEnd + 2;
      if (bytes.length < at + size + 2) return 0;
      if (bytes.toString('latin1', at + size, at + size + 2) !== '\r\n') return this.#reportProblem('chunk end');
      data.push(bytes.subarray(at, at + size));
      at += size + 2;
      if (size === 0) return { data: Buffer.concat(data), end: at };
    }
  }

  #reportProblem(text: string): -1 {
    this.problems.push(text);
    return -1;
  }
}

function parseFixedBody(bytes: Buffer, start: number, length: number): { data: Buffer; end: number } | 0 {
  const end = start + length;
  return bytes.length < end ? 0 : { data: bytes.subarray(start, end), end };
}
