/** Adapts async functions to gRPC handlers, with common error handling. */
import type { Logger } from '@acg/base/log';
import { type handleUnaryCall, status } from '@grpc/grpc-js';
import { type LinkCaller, linkCallerOf } from './link-caller.js';

/** A gRPC status other than OK; `details` is sent to the caller. */
export class GrpcError extends Error {
  constructor(
    readonly code: number,
    readonly details: string,
  ) {
    super(details);
    this.name = 'GrpcError';
  }
}

/** Logs any error except {@link GrpcError} and responds UNAVAILABLE: the caller may retry with another instance. */
export function unaryHandler<Request, Response>(
  log: Logger,
  name: string,
  handle: (request: Request, caller: LinkCaller) => Promise<Response>,
): handleUnaryCall<Request, Response> {
  return (call, done) => {
    handle(call.request, linkCallerOf(call)).then(
      (response) => done(null, response),
      (error: unknown) => done(toGrpcError(log, name, error)),
    );
  };
}

export function toGrpcError(log: Logger, name: string, error: unknown): { code: number; details: string } {
  if (error instanceof GrpcError) return { code: error.code, details: error.details };
  log.error({ err: error }, `${name} failed`);
  return { code: status.UNAVAILABLE, details: 'internal error; see the log of the control plane' };
}
