/** The interfaces of one request to an upstream: the request, its response handler and its connection. */
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

export interface UpstreamRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';
  /** Raw request target; never normalized. */
  readonly path: string;
  /** Flat `[name, value, …]`. Contains the `content-length` of a streamed body when known. */
  readonly headers: string[];
  readonly body: Buffer | Readable | null;
}

/** Receives the events of one request. Exactly one of `onComplete` and `onError` is called, once, as the last event. */
export interface UpstreamResponseHandler {
  onConnect(abort: (error?: Error) => void): void;
  /** `rawHeaders`: flat `[name, value, …]`, text is latin1. */
  onHeaders(status: number, rawHeaders: string[], resume: () => void): void;
  /** Returns false to pause until `resume` is called. */
  onData(chunk: Buffer): boolean;
  onComplete(): void;
  onError(error: Error): void;
}

/** A connection reserved for one request. Nothing may be sent before the limits have admitted the call. */
export interface UpstreamConnection {
  /** Whether the connection stands: TCP, and TLS where the origin has it. */
  readonly isConnected: boolean;
  /** False once the connection has closed; it never carries a request then. */
  readonly isUsable: boolean;
  /** Connects. Calls `done` once, in a later turn of the event loop. Only where {@link isConnected} is false. */
  connect(done: (error: Error | null) => void): void;
  /**
   * Sends the request over the standing connection, in this turn of the event loop. Throws for an invalid request before
   * any byte is sent (`isInvalidRequest` of upstream/connections/connection-pools-per-origin-and-owner.ts).
   */
  dispatch(call: UpstreamRequest, handler: UpstreamResponseHandler): void;
  /**
   * Hands the standing connection of an upgrade over to the handshake of a WebSocket, which sends it in this turn of the
   * event loop. The pools forget the connection.
   */
  takeSocket(): Socket;
  /** Every byte of the request was passed to the operating system. */
  readonly isRequestSent: boolean;
  /** The connection waited in a pool, so the upstream may have closed it unseen. */
  readonly isKept: boolean;
  /**
   * The connection was kept, and the upstream closed it before the first byte of its response. That says
   * nothing about the upstream's health.
   */
  readonly wasStale: boolean;
  /** Gives the connection back; one on which nothing was sent is kept. Call once, after the last event. */
  release(): void;
}
