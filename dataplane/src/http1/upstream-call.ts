/** One call to an upstream, whichever kind of connection carries it. */
import type { Readable } from 'node:stream';

export interface UpstreamCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';
  /** Raw request target; never normalised. */
  readonly path: string;
  /** Flat `[name, value, …]`. */
  readonly headers: string[];
  readonly body: Buffer | Readable | null;
}

/** undici's older handler shape: it wraps the newer one and makes an object of the headers for every response. */
export interface UpstreamHandler {
  onConnect(abort: (error?: Error) => void): void;
  /** Flat `[name, value, …]`, latin1 where text. */
  onHeaders(status: number, rawHeaders: (Buffer | string)[], resume: () => void): boolean;
  onData(chunk: Buffer): boolean;
  onComplete(): void;
  onError(error: Error): void;
}

/** A connection that is held for one call. */
export interface Connection {
  /** What cannot be sent is reported to the handler's onError, or thrown (`isInvalidRequest` of upstream/pools.ts). */
  dispatch(call: UpstreamCall, handler: UpstreamHandler): void;
  /** The call is over; once. */
  release(): void;
}
