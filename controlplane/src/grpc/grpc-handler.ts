/** Turns async functions into gRPC handlers, with one rule for errors. */
import type { Logger } from '@acg/base/log';
import { type handleUnaryCall, status } from '@grpc/grpc-js';

/** An answer other than OK; `details` is meant for the other side. */
export class GrpcError extends Error {
  constructor(
    readonly code: number,
    readonly details: string,
  ) {
    super(details);
    this.name = 'GrpcFault';
  }
}

/** Any error but {@link GrpcError} is logged and becomes UNAVAILABLE: another instance may fare better. */
export function unaryHandler<Q, A>(
  log: Logger,
  name: string,
  answer: (request: Q) => Promise<A>,
): handleUnaryCall<Q, A> {
  return (call, done) => {
    answer(call.request).then(
      (response) => done(null, response),
      (error: unknown) => done(toGrpcError(log, name, error)),
    );
  };
}

export function toGrpcError(log: Logger, name: string, error: unknown): { code: number; details: string } {
  if (error instanceof GrpcError) return { code: error.code, details: error.details };
  log.error({ err: error }, `${name} failed`);
  return { code: status.UNAVAILABLE, details: 'internal error, see the log of the control plane' };
}
