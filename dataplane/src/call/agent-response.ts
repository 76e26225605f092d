/** The agent's side of an exchange, as the HTTP server hands it over. */
import type { us_socket_context_t } from 'uWebSockets.js';
import type { SlotHolder } from '../concurrency/org-concurrency-limiter.js';

/** What an exchange needs of the server's response object. */
export interface AgentResponse {
  cork(write: () => void): unknown;
  writeStatus(status: string): unknown;
  writeHeader(name: string, value: string | Buffer): unknown;
  write(chunk: Buffer): boolean;
  tryEnd(chunk: Buffer | string, totalBytes: number): [ok: boolean, done: boolean];
  getWriteOffset(): number;
  end(body?: string | Buffer, close?: boolean): unknown;
  endWithoutBody(contentLength?: number, close?: boolean): unknown;
  onWritable(ready: (offset: number) => boolean): unknown;
  pause(): void;
  resume(): void;
  getRemoteAddressAsText(): ArrayBuffer;
  close(): unknown;
}

/** The agent's side of an upgrade, as the server hands it over. */
export interface UpgradableResponse extends AgentResponse {
  upgrade<UserData>(
    userData: UserData,
    key: string,
    protocol: string,
    extensions: string,
    context: us_socket_context_t,
  ): void;
}

/** What the handshake of a WebSocket said; read before its handler returned. It holds the place of the WebSocket. */
export interface WebSocketHandshake extends SlotHolder {
  readonly key: string;
  readonly protocols: string;
  readonly context: us_socket_context_t;
}
