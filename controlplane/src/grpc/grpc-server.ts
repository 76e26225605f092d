/**
 * The gRPC server for data planes. Authorizes every call before its handler runs. The link uses mutual TLS or, on
 * loopback, the shared INTERNAL_TOKEN (proto/src/link-tls-or-shared-secret.ts).
 */
import type { Logger } from '@acg/base/log';
import { LINK_MESSAGE_BYTES_MAX } from '@acg/proto/control-plane-client';
import { type GatewayHandlers, gatewayServerService } from '@acg/proto/gateway-service';
import { createServerCredentials, isLinkAuthorized, type LinkSecurity } from '@acg/proto/link-tls-or-shared-secret';
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Server,
  type ServiceDefinition,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { GrpcListener } from './grpc-listener.js';

const SERVER_OPTIONS = {
  // Detects a data plane that disappeared without closing its connection within 15 s.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.max_receive_message_length': LINK_MESSAGE_BYTES_MAX,
  'grpc.max_send_message_length': LINK_MESSAGE_BYTES_MAX,
  'grpc.max_concurrent_streams': 2_000,
};

const UNAUTHENTICATED_ERROR = { code: status.UNAUTHENTICATED, details: 'INTERNAL_TOKEN does not match' };

export class GrpcServer {
  readonly #server = new Server(SERVER_OPTIONS);
  readonly #listener: GrpcListener;

  /** A method without a handler responds UNIMPLEMENTED. `connectionLimits`: limits of the port. */
  constructor(
    security: LinkSecurity,
    handlers: Partial<GatewayHandlers>,
    log: Logger,
    connectionLimits: ConstructorParameters<typeof GrpcListener>[0],
  ) {
    const injector = this.#server.createConnectionInjector(createServerCredentials(security));
    this.#listener = new GrpcListener(connectionLimits, (socket) => injector.injectConnection(socket));
    const guarded: UntypedServiceImplementation = {};
    const logRejection = (peer: string): void =>
      log.warn({ peer }, 'gRPC call rejected: INTERNAL_TOKEN does not match');
    for (const [name, handler] of Object.entries(handlers)) {
      guarded[name] =
        name === 'watch'
          ? authorizeStream(security, handler as GatewayHandlers['watch'], logRejection)
          : authorizeUnary(security, handler as handleUnaryCall<unknown, unknown>, logRejection);
    }
    this.#server.addService(gatewayServerService as unknown as ServiceDefinition, guarded);
  }

  /** `listen`: `host:port`; port 0 picks a free port. Rejects if the address cannot be bound. */
  async start(listen: string): Promise<{ port: number }> {
    return { port: await this.#listener.listen(listen) };
  }

  /** Lets running calls finish for at most `graceMs`. End the watch streams first. */
  async stop(graceMs: number): Promise<void> {
    this.#listener.close();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.#server.forceShutdown();
        resolve();
      }, graceMs);
      this.#server.tryShutdown(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

type LogRejection = (peer: string) => void;

function authorizeUnary<Request, Response>(
  security: LinkSecurity,
  handler: handleUnaryCall<Request, Response>,
  logRejection: LogRejection,
): handleUnaryCall<Request, Response> {
  return (call, done) => {
    if (isLinkAuthorized(security, call.metadata)) return handler(call, done);
    logRejection(call.getPeer());
    done(UNAUTHENTICATED_ERROR);
  };
}

function authorizeStream<Request, Response>(
  security: LinkSecurity,
  handler: handleServerStreamingCall<Request, Response>,
  logRejection: LogRejection,
): handleServerStreamingCall<Request, Response> {
  return (call) => {
    if (isLinkAuthorized(security, call.metadata)) return handler(call);
    logRejection(call.getPeer());
    call.emit('error', Object.assign(new Error(UNAUTHENTICATED_ERROR.details), UNAUTHENTICATED_ERROR));
  };
}
