/** The agent's side of an exchange: the parts of the HTTP server's response object that the data plane uses. */
import type { us_socket_context_t } from 'uWebSockets.js';
import type { SlotHolder } from '../concurrency/org-slots.js';

/** Members of the server's response object that an exchange uses. */
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

/** Response object of an upgrade request. */
export interface UpgradableResponse extends AgentResponse {
  upgrade<UserData>(
    userData: UserData,
    key: string,
    protocol: string,
    extensions: string,
    context: us_socket_context_t,
  ): void;
}

/** Headers of a WebSocket handshake, read before its handler returned. Holds the WebSocket's slot. */
export interface WebSocketHandshake extends SlotHolder {
  readonly key: string;
  readonly protocols: string;
  readonly context: us_socket_context_t;
}
