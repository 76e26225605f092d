/** The gRPC service of gateway.proto, typed from the generated codec, for servers and clients. */
import './configure-int64-as-number.js';
import type { handleServerStreamingCall, handleUnaryCall, MethodDefinition } from '@grpc/grpc-js';
import type { Reader, Writer } from 'protobufjs/minimal.js';
import { acg } from './generated/gateway.js';
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

interface Codec<T> {
  encode(message: T): Writer;
  decode(bytes: Reader | Uint8Array): T;
}

const method = <Q, A>(name: string, request: Codec<Q>, response: Codec<A>, responseStream = false) =>
  ({
    path: `/acg.v1.Gateway/${name}`,
    requestStream: false,
    responseStream,
    requestSerialize: (value: Q) => Buffer.from(request.encode(value).finish()),
    requestDeserialize: (bytes: Buffer) => request.decode(bytes),
    responseSerialize: (value: A) => Buffer.from(response.encode(value).finish()),
    responseDeserialize: (bytes: Buffer) => response.decode(bytes),
  }) satisfies MethodDefinition<Q, A>;

const v1 = acg.v1;

export const gatewayService = {
  resolveToken: method<IResolveTokenRequest, IResolveTokenResponse>(
    'ResolveToken',
    v1.ResolveTokenRequest,
    v1.ResolveTokenResponse,
  ),
  resolveTokens: method<IResolveTokensRequest, IResolveTokensResponse>(
    'ResolveTokens',
    v1.ResolveTokensRequest,
    v1.ResolveTokensResponse,
  ),
  watch: method<IWatchRequest, IWatchEvent>('Watch', v1.WatchRequest, v1.WatchEvent, true),
  reportUsage: method<IReportUsageRequest, IReportUsageResponse>(
    'ReportUsage',
    v1.ReportUsageRequest,
    v1.ReportUsageResponse,
  ),
  acquireProbe: method<IAcquireProbeRequest, IAcquireProbeResponse>(
    'AcquireProbe',
    v1.AcquireProbeRequest,
    v1.AcquireProbeResponse,
  ),
  releaseProbe: method<IReleaseProbeRequest, IReleaseProbeResponse>(
    'ReleaseProbe',
    v1.ReleaseProbeRequest,
    v1.ReleaseProbeResponse,
  ),
  reportContacts: method<IReportContactsRequest, IReportContactsResponse>(
    'ReportContacts',
    v1.ReportContactsRequest,
    v1.ReportContactsResponse,
  ),
  reportCredentialUse: method<IReportCredentialUseRequest, IReportCredentialUseResponse>(
    'ReportCredentialUse',
    v1.ReportCredentialUseRequest,
    v1.ReportCredentialUseResponse,
  ),
  reportCounterStore: method<IReportCounterStoreRequest, IReportCounterStoreResponse>(
    'ReportCounterStore',
    v1.ReportCounterStoreRequest,
    v1.ReportCounterStoreResponse,
  ),
  callRuns: method<ICallRunsRequest, ICallRunsResponse>('CallRuns', v1.CallRunsRequest, v1.CallRunsResponse),
};

/**
 * The service for the control plane. Passes usage reports as bytes, because the control plane decodes them itself on
 * its hottest path.
 */
export const gatewayServerService = {
  ...gatewayService,
  reportUsage: { ...gatewayService.reportUsage, requestDeserialize: (bytes: Buffer) => bytes },
};

/** The methods that a control plane implements. */
export interface GatewayHandlers {
  resolveToken: handleUnaryCall<IResolveTokenRequest, IResolveTokenResponse>;
  resolveTokens: handleUnaryCall<IResolveTokensRequest, IResolveTokensResponse>;
  watch: handleServerStreamingCall<IWatchRequest, IWatchEvent>;
  /** Receives the request as bytes, see {@link gatewayServerService}. */
  reportUsage: handleUnaryCall<Buffer, IReportUsageResponse>;
  acquireProbe: handleUnaryCall<IAcquireProbeRequest, IAcquireProbeResponse>;
  releaseProbe: handleUnaryCall<IReleaseProbeRequest, IReleaseProbeResponse>;
  reportContacts: handleUnaryCall<IReportContactsRequest, IReportContactsResponse>;
  reportCredentialUse: handleUnaryCall<IReportCredentialUseRequest, IReportCredentialUseResponse>;
  reportCounterStore: handleUnaryCall<IReportCounterStoreRequest, IReportCounterStoreResponse>;
  callRuns: handleUnaryCall<ICallRunsRequest, ICallRunsResponse>;
}
