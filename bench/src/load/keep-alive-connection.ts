/**
 * One HTTP/1.1 connection that sends a prepared request and finds the end of the response by `content-length`, or
 * by the last chunk. It costs
 * a few microseconds per call, so that the load generator does not distort the measurement.
 */
import type { Socket } from 'node:net';
import { openSocket } from './open-tcp-or-tls-socket.js';

/** `status` 0: the connection broke, or the response was unreadable. */
type AnswerDone = (status: number, head: string) => void;

const HEAD_END = '\r\n\r\n';
/** The last chunk, and no trailer. */
const LAST_CHUNK = '\r\n0\r\n\r\n';
const CHUNKED = /\r\ntransfer-encoding: chunked\r\n/i;
const LENGTH = /\r\ncontent-length: (\d{1,15})\r\n/i;

export class KeepAliveConnection {
  readonly #socket: Socket;
  #received = '';
  #done: AnswerDone | null = null;
  #bytesWanted = -1;
  #head = '';
  #isChunked = false;
  broken = false;
  /** Resolves when the connection can carry a call, or has failed. */
  readonly opened: Promise<void>;

  constructor(origin: string) {
    this.#socket = openSocket(origin);
    this.opened = new Promise((resolve) => {
      this.#socket.once(origin.startsWith('https:') ? 'secureConnect' : 'connect', resolve);
      this.#socket.once('close', () => resolve());
    });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text: string) => this.#take(text));
    this.#socket.on('error', () => this.#end());
    this.#socket.on('close', () => this.#end());
  }

  /** One call at a time. */
  send(request: Buffer, done: AnswerDone): void {
    this.#done = done;
    if (this.broken) this.#end();
    else this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#received = this.#received === '' ? text : this.#received + text;
    if (this.#bytesWanted < 0) {
      const headEnd = this.#received.indexOf(HEAD_END);
      if (headEnd < 0) return;
      this.#head = this.#received.slice(0, headEnd + 2);
      const length = LENGTH.exec(this.#head);
      this.#isChunked = length === null && CHUNKED.test(this.#head);
      if (length === null && !this.#isChunked) {
        this.#socket.destroy(new Error('a response without content-length'));
        return;
      }
      this.#bytesWanted = headEnd + HEAD_END.length + Number(length?.[1] ?? 0);
    }
    if (this.#received.length < this.#bytesWanted) return;
    if (this.#isChunked && !this.#received.endsWith(LAST_CHUNK)) return;
    this.#received = '';
    this.#bytesWanted = -1;
    this.#answer(Number(this.#head.slice(9, 12)), this.#head);
  }

  #end(): void {
    this.broken = true;
    this.#answer(0, '');
  }

  #answer(status: number, head: string): void {
    const done = this.#done;
    this.#done = null;
    done?.(status, head);
  }
}

/** The bytes of a POST with a JSON body. */
export function postRequest(url: string, headers: Readonly<Record<string, string>>, body: string): Buffer {
  const { host, pathname, search } = new URL(url);
  const lines = Object.entries({ 'content-type': 'application/json', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return Buffer.from(
    `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n${lines.join('')}` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
