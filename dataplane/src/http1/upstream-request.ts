/** One call to an upstream. */
import type { Readable } from 'node:stream';

export interface UpstreamRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';
  /** Raw request target; never normalised. */
  readonly path: string;
  /** Flat `[name, value, …]`; with the `content-length` of a body that streams, where it is known. */
  readonly headers: string[];
  readonly body: Buffer | Readable | null;
}

/** Who hears what becomes of a call. After `onComplete` or `onError`, one of which comes once, it hears nothing more. */
export interface UpstreamResponseHandler {
  onConnect(abort: (error?: Error) => void): void;
  /** Flat `[name, value, …]`, latin1 where text. */
  onHeaders(status: number, rawHeaders: string[], resume: () => void): void;
  /** False: pause until `resume` is called. */
  onData(chunk: Buffer): boolean;
  onComplete(): void;
  onError(error: Error): void;
}

/** A connection that is held for one call. */
export interface UpstreamConnection {
  /** What cannot be sent is reported to the handler's onError, or thrown (`isInvalidRequest` of upstream/pools.ts). */
  dispatch(call: UpstreamRequest, handler: UpstreamResponseHandler): void;
  /** Every byte of the call's request has been handed to the system. */
  readonly isRequestSent: boolean;
  /** The call is over; once. */
  release(): void;
}
