/**
 * The gRPC server for data planes. Every call is authorized before its handler runs; the link is mutual TLS or, on
 * loopback, the shared INTERNAL_TOKEN (proto/src/link-security.ts).
 */
import type { Logger } from '@acg/base/log';
import { LINK_MESSAGE_BYTES_MAX } from '@acg/proto/control-plane-client';
import { type GatewayHandlers, gatewayServerService } from '@acg/proto/gateway-service';
import { createServerCredentials, isLinkAuthorized, type LinkSecurity } from '@acg/proto/link-security';
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
  // A data plane that vanished without a word is noticed within 15 s.
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

  /** A method without a handler answers UNIMPLEMENTED. `bounds`: on the connections of the port. */
  constructor(
    security: LinkSecurity,
    handlers: Partial<GatewayHandlers>,
    log: Logger,
    bounds: ConstructorParameters<typeof GrpcListener>[0],
  ) {
    const injector = this.#server.createConnectionInjector(createServerCredentials(security));
    this.#listener = new GrpcListener(bounds, (socket) => injector.injectConnection(socket));
    const guarded: UntypedServiceImplementation = {};
    const refuse = (peer: string): void => log.warn({ peer }, 'gRPC call refused: INTERNAL_TOKEN does not match');
    for (const [name, handler] of Object.entries(handlers)) {
      guarded[name] =
        name === 'watch'
          ? authorizeStream(security, handler as GatewayHandlers['watch'], refuse)
          : authorizeUnary(security, handler as handleUnaryCall<unknown, unknown>, refuse);
    }
    this.#server.addService(gatewayServerService as unknown as ServiceDefinition, guarded);
  }

  /** `listen`: `host:port`, port 0 for any. Rejects when the address cannot be had. */
  async start(listen: string): Promise<{ port: number }> {
    return { port: await this.#listener.listen(listen) };
  }

  /** Lets calls under way finish, but no longer than that. End the watches first. */
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

function authorizeUnary<Q, A>(
  security: LinkSecurity,
  handler: handleUnaryCall<Q, A>,
  refuse: LogRejection,
): handleUnaryCall<Q, A> {
  return (call, done) => {
    if (isLinkAuthorized(security, call.metadata)) return handler(call, done);
    refuse(call.getPeer());
    done(UNAUTHENTICATED_ERROR);
  };
}

function authorizeStream<Q, A>(
  security: LinkSecurity,
  handler: handleServerStreamingCall<Q, A>,
  refuse: LogRejection,
): handleServerStreamingCall<Q, A> {
  return (call) => {
    if (isLinkAuthorized(security, call.metadata)) return handler(call);
    refuse(call.getPeer());
    call.emit('error', Object.assign(new Error(UNAUTHENTICATED_ERROR.details), UNAUTHENTICATED_ERROR));
  };
}
