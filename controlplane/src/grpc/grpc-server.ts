/**
 * The gRPC server for data planes. Authenticates every call before its handler runs, which finds the caller with
 * `linkCallerOf`. The link uses mutual TLS or, on loopback, no TLS (proto/src/link-tls-or-shared-secret.ts).
 */
import type { Logger } from '@acg/base/log';
import { LINK_MESSAGE_BYTES_MAX } from '@acg/proto/control-plane-client';
import { type GatewayHandlers, gatewayServerService } from '@acg/proto/gateway-service';
import { createServerCredentials, type LinkSecurity, linkCertificates } from '@acg/proto/link-tls-or-shared-secret';
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Server,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { GrpcListener } from './grpc-listener.js';
import { type LinkAuthentication, setLinkCaller } from './link-caller.js';

const SERVER_OPTIONS = {
  // Detects a data plane that disappeared without closing its connection within 15 s.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.max_receive_message_length': LINK_MESSAGE_BYTES_MAX,
  'grpc.max_send_message_length': LINK_MESSAGE_BYTES_MAX,
  'grpc.max_concurrent_streams': 2_000,
};

/** Decides who sends a call. */
type Authenticate = (
  call: ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>,
) => LinkAuthentication;

export class GrpcServer {
  readonly #server = new Server(SERVER_OPTIONS);
  readonly #listener: GrpcListener;
  readonly #certificates: ReturnType<typeof linkCertificates>;

  /** A method without a handler responds UNIMPLEMENTED. `connectionLimits`: limits of the port. */
  constructor(
    security: LinkSecurity,
    authenticate: Authenticate,
    handlers: Partial<GatewayHandlers>,
    log: Logger,
    connectionLimits: ConstructorParameters<typeof GrpcListener>[0],
  ) {
    this.#certificates = linkCertificates(security);
    const injector = this.#server.createConnectionInjector(createServerCredentials(security, this.#certificates));
    this.#listener = new GrpcListener(connectionLimits, (socket) => injector.injectConnection(socket));
    const guarded: UntypedServiceImplementation = {};
    /** Returns the error for the caller, null for an authenticated call. */
    const reject: RejectCall = (call) => {
      const result = authenticate(call);
      if ('caller' in result) {
        setLinkCaller(call, result.caller);
        return null;
      }
      log.warn({ peer: call.getPeer() }, `gRPC call rejected: ${result.problem}`);
      return { code: status.UNAUTHENTICATED, details: result.problem };
    };
    for (const [name, handler] of Object.entries(handlers)) {
      guarded[name] =
        name === 'watch'
          ? authenticateStream(handler as GatewayHandlers['watch'], reject)
          : authenticateUnary(handler as handleUnaryCall<unknown, unknown>, reject);
    }
    this.#server.addService(gatewayServerService as unknown as ServiceDefinition, guarded);
  }

  /** `listen`: `host:port`; port 0 picks a free port. Rejects if the address cannot be bound. */
  async start(listen: string): Promise<{ port: number }> {
    return { port: await this.#listener.listen(listen) };
  }

  /** Uses these certificates for new connections. TLS itself stays on or off. */
  replaceCertificates({ tls }: LinkSecurity): void {
    if (tls !== null) this.#certificates?.replace(tls);
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

type RejectCall = (call: Parameters<Authenticate>[0]) => { readonly code: number; readonly details: string } | null;

function authenticateUnary(
  handler: handleUnaryCall<unknown, unknown>,
  reject: RejectCall,
): handleUnaryCall<unknown, unknown> {
  return (call, done) => {
    const error = reject(call);
    if (error === null) handler(call, done);
    else done(error);
  };
}

function authenticateStream<Request, Response>(
  handler: handleServerStreamingCall<Request, Response>,
  reject: RejectCall,
): handleServerStreamingCall<Request, Response> {
  return (call) => {
    const error = reject(call as Parameters<RejectCall>[0]);
    if (error === null) handler(call);
    else call.emit('error', Object.assign(new Error(error.details), error));
  };
}
