/** Re-exports the messages of gateway.proto under their own names. */
import './configure-int64-as-number.js';
import { acg } from './generated/gateway.js';

export const {
  ResolveTokenRequest,
  ResolveTokenResponse,
  ResolveTokensRequest,
  ResolveTokensResponse,
  AgentContext,
  Upstream,
  WatchRequest,
  WatchEvent,
  Invalidation,
  ReportUsageRequest,
  ReportUsageResponse,
  UsageRecord,
  RejectionCount,
  AddressSighting,
  LineUsage,
  LedgerMark,
  AcquireProbeRequest,
  AcquireProbeResponse,
  ReleaseProbeRequest,
  ReleaseProbeResponse,
  ReportContactsRequest,
  ReportContactsResponse,
  ReportCredentialUseRequest,
  ReportCredentialUseResponse,
  ReportCounterStoreRequest,
  ReportCounterStoreResponse,
  CircuitOutcome,
} = acg.v1;

export type IResolveTokenRequest = acg.v1.IResolveTokenRequest;
export type IResolveTokenResponse = acg.v1.IResolveTokenResponse;
export type IResolveTokensRequest = acg.v1.IResolveTokensRequest;
export type IResolveTokensResponse = acg.v1.IResolveTokensResponse;
export type IAgentContext = acg.v1.IAgentContext;
export type IBudgetSpend = acg.v1.IBudgetSpend;
export type ICellSpend = acg.v1.ICellSpend;
export type ILimit = acg.v1.ILimit;
export type IBudget = acg.v1.IBudget;
export type IUpstream = acg.v1.IUpstream;
export type IUsageRule = acg.v1.IUsageRule;
export type ICallPolicy = acg.v1.ICallPolicy;
export type IModelRule = acg.v1.IModelRule;
export type IInjection = acg.v1.IInjection;
export type IWatchRequest = acg.v1.IWatchRequest;
export type IWatchEvent = acg.v1.IWatchEvent;
export type IHello = acg.v1.IHello;
export type IHeartbeat = acg.v1.IHeartbeat;
export type ICounterLayout = acg.v1.ICounterLayout;
export type ICircuitState = acg.v1.ICircuitState;
export type IPriceBook = acg.v1.IPriceBook;
export type IModelPrice = acg.v1.IModelPrice;
export type IPriceOverride = acg.v1.IPriceOverride;
export type IReportUsageRequest = acg.v1.IReportUsageRequest;
export type ILedgerMark = acg.v1.ILedgerMark;
export type IReportUsageResponse = acg.v1.IReportUsageResponse;
export type IUsageRecord = acg.v1.IUsageRecord;
export type ILineUsage = acg.v1.ILineUsage;
export type ILine = acg.v1.LineUsage.ILine;
export type IRejectionCount = acg.v1.IRejectionCount;
export type IRejectedCall = acg.v1.IRejectedCall;
export type IAddressSighting = acg.v1.IAddressSighting;
export type IAcquireProbeRequest = acg.v1.IAcquireProbeRequest;
export type IAcquireProbeResponse = acg.v1.IAcquireProbeResponse;
export type IReleaseProbeRequest = acg.v1.IReleaseProbeRequest;
export type IReleaseProbeResponse = acg.v1.IReleaseProbeResponse;
export type IOriginContact = acg.v1.IOriginContact;
export type ICallRunsRequest = acg.v1.ICallRunsRequest;
export type ICallRunsResponse = acg.v1.ICallRunsResponse;
export type IReportContactsRequest = acg.v1.IReportContactsRequest;
export type IReportContactsResponse = acg.v1.IReportContactsResponse;
export type IFormerCredential = acg.v1.IFormerCredential;
export type IReportCredentialUseRequest = acg.v1.IReportCredentialUseRequest;
export type IReportCredentialUseResponse = acg.v1.IReportCredentialUseResponse;
export type IReportCounterStoreRequest = acg.v1.IReportCounterStoreRequest;
export type IReportCounterStoreResponse = acg.v1.IReportCounterStoreResponse;
export const Outcome = acg.v1.ResolveTokenResponse.Outcome;
export const InvalidationKind = acg.v1.Invalidation.Kind;
export const LayoutStage = acg.v1.CounterLayout.Stage;
