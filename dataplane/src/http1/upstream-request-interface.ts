/** The interfaces of one request to an upstream: the request, its response handler and its connection. */
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

/** A connection reserved for one request. */
export interface UpstreamConnection {
  /**
   * Sends the request. An invalid request is reported to the handler's onError, or thrown (`isInvalidRequest` of
   * upstream/connections/connection-pools-per-origin-and-owner.ts).
   */
  dispatch(call: UpstreamRequest, handler: UpstreamResponseHandler): void;
  /** Every byte of the request was passed to the operating system. */
  readonly isRequestSent: boolean;
  /** Gives the connection back. Call once, after the last event. */
  release(): void;
}
