/**
 * The data plane's client of the gRPC link, over the addresses of several control-plane instances. One channel per
 * address. A call goes to the preferred address. When that is unreachable or silent, the call moves to the next one
 * within the same deadline, and the address that responded becomes the preferred one. So a call fails only when no
 * instance responds in time. All calls are safe to repeat: reads, idempotent batches, leases that expire.
 */
import { Client, type ClientReadableStream, type Metadata, type MethodDefinition, status } from '@grpc/grpc-js';
import { gatewayService } from './gateway-service.js';
import {
  createChannelCredentials,
  createLinkMetadata,
  type LinkSecurity,
  linkCertificates,
} from './link-tls-or-shared-secret.js';
import type {
  IAcquireProbeRequest,
  IAcquireProbeResponse,
  ICallRunsRequest,
  ICallRunsResponse,
  IReleaseProbeRequest,
  IReleaseProbeResponse,
  IReportContactsRequest,
  IReportContactsResponse,
  IReportCounterStoreRequest,
  IReportCounterStoreResponse,
  IReportCredentialUseRequest,
  IReportCredentialUseResponse,
  IReportUsageRequest,
  IReportUsageResponse,
  IResolveTokenRequest,
  IResolveTokenResponse,
  IResolveTokensRequest,
  IResolveTokensResponse,
  IWatchEvent,
  IWatchRequest,
} from './messages.js';

/** gRPC status codes, for {@link LinkError.code}. */
export const grpcStatus = status;

/** Largest message either side accepts. */
export const LINK_MESSAGE_BYTES_MAX = 16 * 1_048_576;

/** No control-plane instance responded, or one rejected the call. Contains no part of the request. */
export class LinkError extends Error {
  constructor(
    /** gRPC status code, see `status` of @grpc/grpc-js. */
    readonly code: number,
    readonly details: string,
  ) {
    super(`${status[code] ?? code}: ${details}`);
    this.name = 'LinkError';
  }
}

interface WatchObserver {
  onEvent(event: IWatchEvent): void;
  /** Called exactly once, also after a regular end by the server, but not after `cancel`. */
  onEnd(error: LinkError): void;
}

export interface WatchCall {
  /** Address of the instance that serves the stream. */
  readonly address: string;
  /** Ends the stream. No further observer method is called. */
  cancel(): void;
}

const CHANNEL_OPTIONS = {
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2_000,
  'grpc.max_receive_message_length': LINK_MESSAGE_BYTES_MAX,
  'grpc.max_send_message_length': LINK_MESSAGE_BYTES_MAX,
  'grpc.dns_min_time_between_resolutions_ms': 1_000,
  // The link never uses an HTTP proxy of the environment.
  'grpc.enable_http_proxy': 0,
  'grpc.use_local_subchannel_pool': 1,
};

/** Statuses after which another instance may succeed. */
const FAILOVER_STATUSES = new Set<number>([status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED]);

const reportUsageBody: MethodDefinition<Buffer, IReportUsageResponse> = {
  ...gatewayService.reportUsage,
  requestSerialize: (body) => body,
  requestDeserialize: (body) => body,
};

export class ControlPlaneClient {
  readonly #addresses: readonly string[];
  readonly #channels: readonly Client[];
  readonly #metadata: Metadata;
  readonly #certificates: ReturnType<typeof linkCertificates>;
  #preferred: number;

  /**
   * `addresses`: `host:port`, at least one. The first preferred one is random, so that a fleet spreads over the
   * instances.
   */
  constructor(addresses: readonly string[], security: LinkSecurity, random: () => number = Math.random) {
    if (addresses.length === 0) throw new Error('ControlPlaneClient needs at least one address');
    this.#certificates = linkCertificates(security);
    const credentials = createChannelCredentials(security, this.#certificates);
    this.#addresses = addresses;
    this.#channels = addresses.map((address) => new Client(address, credentials, CHANNEL_OPTIONS));
    this.#metadata = createLinkMetadata(security);
    this.#preferred = Math.floor(random() * addresses.length) % addresses.length;
  }

  /** Rejects with {@link LinkError}, as every call here. `timeoutMs` covers all attempts together. */
  resolveToken(request: IResolveTokenRequest, timeoutMs: number): Promise<IResolveTokenResponse> {
    return this.#call(gatewayService.resolveToken, request, timeoutMs);
  }

  resolveTokens(request: IResolveTokensRequest, timeoutMs: number): Promise<IResolveTokensResponse> {
    return this.#call(gatewayService.resolveTokens, request, timeoutMs);
  }

  reportUsage(request: IReportUsageRequest, timeoutMs: number): Promise<IReportUsageResponse> {
    return this.#call(gatewayService.reportUsage, request, timeoutMs);
  }

  /** The same call with an already encoded request, as the usage spool stores it. */
  reportUsageBody(body: Buffer, timeoutMs: number): Promise<IReportUsageResponse> {
    return this.#call(reportUsageBody, body, timeoutMs);
  }

  acquireProbe(request: IAcquireProbeRequest, timeoutMs: number): Promise<IAcquireProbeResponse> {
    return this.#call(gatewayService.acquireProbe, request, timeoutMs);
  }

  releaseProbe(request: IReleaseProbeRequest, timeoutMs: number): Promise<IReleaseProbeResponse> {
    return this.#call(gatewayService.releaseProbe, request, timeoutMs);
  }

  reportContacts(request: IReportContactsRequest, timeoutMs: number): Promise<IReportContactsResponse> {
    return this.#call(gatewayService.reportContacts, request, timeoutMs);
  }

  reportCredentialUse(request: IReportCredentialUseRequest, timeoutMs: number): Promise<IReportCredentialUseResponse> {
    return this.#call(gatewayService.reportCredentialUse, request, timeoutMs);
  }

  reportCounterStore(request: IReportCounterStoreRequest, timeoutMs: number): Promise<IReportCounterStoreResponse> {
    return this.#call(gatewayService.reportCounterStore, request, timeoutMs);
  }

  /** A repeated POST may leave a second run, whose token is lost; it ends with its time. */
  callRuns(request: ICallRunsRequest, timeoutMs: number): Promise<ICallRunsResponse> {
    return this.#call(gatewayService.callRuns, request, timeoutMs);
  }

  /** Opens one Watch stream on the preferred address. After its end, the next stream uses another address. */
  watch(request: IWatchRequest, observer: WatchObserver): WatchCall {
    const index = this.#preferred;
    const { path, requestSerialize, responseDeserialize } = gatewayService.watch;
    const call: ClientReadableStream<IWatchEvent> = this.#channels[index]!.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      this.#metadata,
    );
    let ended = false;
    const end = (code: number, details: string): void => {
      if (ended) return;
      ended = true;
      this.#failOverFrom(index);
      observer.onEnd(new LinkError(code, details));
    };
    call.on('data', (event: IWatchEvent) => {
      if (!ended) observer.onEvent(event);
    });
    call.on('error', (error: Error & { code?: number; details?: string }) => {
      end(error.code ?? status.UNKNOWN, error.details ?? error.message);
    });
    call.on('end', () => end(status.UNAVAILABLE, 'the control plane ended the stream'));
    const cancel = (): void => {
      ended = true;
      call.cancel();
    };
    return { address: this.#addresses[index]!, cancel };
  }

  /** The token holds for the next call, certificates for the next connection. TLS itself stays on or off. */
  replaceSecurity(security: LinkSecurity): void {
    createLinkMetadata(security, this.#metadata);
    if (security.tls !== null) this.#certificates?.replace(security.tls);
  }

  /** Prefers another address from now on. For an address that is reachable but does not respond. */
  preferOtherThan(address: string): void {
    this.#failOverFrom(this.#addresses.indexOf(address));
  }

  close(): void {
    for (const channel of this.#channels) channel.close();
  }

  #failOverFrom(index: number): void {
    if (index === this.#preferred) this.#preferred = (index + 1) % this.#channels.length;
  }

  async #call<Q, A>(method: MethodDefinition<Q, A>, request: Q, timeoutMs: number): Promise<A> {
    const deadlineMs = Date.now() + timeoutMs;
    const count = this.#channels.length;
    const first = this.#preferred;
    for (let tried = 0; ; tried++) {
      const index = (first + tried) % count;
      // A silent instance gets only its part of the time, so that the others are tried, too.
      const attemptMs = (deadlineMs - Date.now()) / (count - tried);
      try {
        const answer = await this.#attempt(this.#channels[index]!, method, request, Date.now() + attemptMs);
        if (tried > 0) this.#preferred = index;
        return answer;
      } catch (error) {
        const last = tried + 1 >= count || Date.now() >= deadlineMs;
        if (last || !(error instanceof LinkError) || !FAILOVER_STATUSES.has(error.code)) throw error;
      }
    }
  }

  #attempt<Q, A>(channel: Client, method: MethodDefinition<Q, A>, request: Q, deadlineMs: number): Promise<A> {
    return new Promise((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = method;
      const options = { deadline: deadlineMs };
      channel.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        this.#metadata,
        options,
        (error, answer) => {
          if (error !== null) reject(new LinkError(error.code, error.details));
          else if (answer === undefined) reject(new LinkError(status.INTERNAL, 'empty response'));
          else resolve(answer);
        },
      );
    });
  }
}
