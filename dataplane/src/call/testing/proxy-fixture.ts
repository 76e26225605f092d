/** For tests: the real server, with fakes for everything outside the data plane's core. */

import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Dialer } from '@acg/base/dialer/dialer';
import { EgressBlocked } from '@acg/base/egress/egress-guard';
import { createLogger } from '@acg/base/log';
import type { BreakerStatus } from '@acg/dataplane/breaker/breakers-interface';
import type { CallMetering } from '@acg/dataplane/call/call-metering-interface';
import type { AgentContext, Upstream } from '@acg/dataplane/context/agent-context';
import type { Lookup } from '@acg/dataplane/context/context-cache';
import { UnauthenticatedRateLimiter } from '@acg/dataplane/context/unauthenticated-rate-limiter';
import type {
  Admission,
  AdmissionRequest,
  LimitSnapshot,
  PeekRequest,
  Settlement,
} from '@acg/dataplane/limits/counters-interface';
import { AGENT_PROVIDER_ROWS, LIMIT_TABLE, type LimitType } from '@acg/dataplane/limits/limit-table';
import type { MaxCostInput } from '@acg/dataplane/pricing/max-cost';
import { type ProxyDeps, type ProxyOptions, ProxyServer } from '@acg/dataplane/proxy-server';
import {
  ConnectionPools,
  type ConnectionPoolsOptions,
} from '@acg/dataplane/upstream/connections/connection-pools-per-origin-and-owner';
import type { IRejectedCall, IUsageRecord } from '@acg/proto/messages';
import { createTestLimits } from '../../limits/testing/agent-limits-fixture.js';
import { createLocalDialer } from '../../upstream/testing/dialer-recorder-certificate-fixture.js';
import {
  createTestHeaderInjection,
  createTestUpstream,
} from '../../upstream/testing/upstream-and-injection-fixture.js';
import { ClientIpResolver } from '../client-ip-resolver.js';
import { CountingMeter } from './counting-meter-fixture.js';

export const GATEWAY_TOKEN = `acg_${'0123456789abcdef'.repeat(4)}`;
const MIB = 1024 * 1024;
export const PROVIDER_KEY = 'sk-provider-secret';

export const createUpstream = (origin: string, changes: Partial<Upstream> = {}): Upstream =>
  createTestUpstream({
    providerSlug: 'openai',
    publicSlug: 'openai',
    accountId: 'account-1',
    origin,
    circuitKey: `openai ${origin}`,
    injection: createTestHeaderInjection({ value: `Bearer ${PROVIDER_KEY}`, secretForms: [PROVIDER_KEY] }),
    ...changes,
  });

export function createContext(upstreams: readonly Upstream[], changes: Partial<AgentContext> = {}): AgentContext {
  return {
    keyId: 'key-1',
    keyScope: 'agent',
    keyExpiresAtMs: null,
    orgId: 'org-1',
    projectId: 'project-1',
    agentId: 'agent-1',
    agentName: 'Agent',
    agentSlug: 'agent',
    agentStatus: 'active',
    agentLimits: createTestLimits({ agentId: 'agent-1' }),
    runIds: [],
    upstreams: new Map(upstreams.map((upstream) => [upstream.providerSlug, upstream])),
    namedOrigins: new Map(),
    unassignedProviders: new Set(['anthropic']),
    builtInProviders: new Set(),
    mcpSessionKey: 'session-key',
    ...changes,
  };
}

export const ADMITTED: Admission = {
  outcome: 'admitted',
  rejectedByRow: -1,
  rejectedByBudget: null,
  retryAtSec: 0,
  wouldReject: '',
  rpmRemaining: 59,
  rpmResetAtSec: 1_900_000_000,
  admittedAtSec: Date.UTC(2026, 10) / 1000,
  spentNanos: 0,
  reservedNanos: 0,
  reservationNanos: 0,
};

/** A rejection by the first row of that type. */
export const createRejectedAdmission = (type: LimitType, passesAtSec: number, spentNanos = 0): Admission => {
  const refusedBy = LIMIT_TABLE.findIndex((row) => row.type === type);
  return {
    ...ADMITTED,
    outcome: type,
    rejectedByRow: refusedBy,
    rejectedByBudget: type === 'budget' ? createTestLimits({ budgetCents: 500 }).checkedBudgets[0]! : null,
    retryAtSec: passesAtSec,
    rpmRemaining: 0,
    rpmResetAtSec: passesAtSec,
    spentNanos,
  };
};

const createUnusedSnapshot = ({ limits, providerSlugs }: PeekRequest): Omit<LimitSnapshot, 'takenAtSec'> => ({
  windows: providerSlugs.map((providerSlug) => ({
    providerSlug,
    remaining: AGENT_PROVIDER_ROWS.map((row) => limits.byRow[row]!),
    resetAtSec: AGENT_PROVIDER_ROWS.map(() => null),
    rejection: null,
  })),
  spends: limits.budgets.map((budget) => ({ budget, spentNanos: 0, reservedNanos: 0 })),
});

/** The server with its fakes; a test may read and change every field while the server runs. */
export class ProxyFixture {
  readonly records: IUsageRecord[] = [];
  /** Every log line, at the level `trace`. */
  readonly logLines: string[] = [];
  readonly rejections: string[] = [];
  readonly rejectedCalls: IRejectedCall[] = [];
  readonly admissions: AdmissionRequest[] = [];
  /** Prechecks of limits, which consume nothing. */
  readonly limitPeeks: PeekRequest[] = [];
  readonly settlements: Settlement[] = [];
  readonly exceeded: number[] = [];
  /** Growths of reservations that calls requested, nano-dollars; the first {@link growthsMax} are granted. */
  readonly growths: number[] = [];
  growthsMax = 0;
  /** Not null: requests for a growth wait here for their result. */
  pendingGrowths: ((granted: boolean) => void)[] | null = null;
  /** Upper bound of every call's cost, nano-dollars. */
  boundNanos = 0;
  /** Calls whose upper bound was computed. */
  readonly bounded: MaxCostInput[] = [];
  readonly spend: [agentId: string, costNanos: number][] = [];
  readonly releasedProbes: string[] = [];
  readonly goodProbes: [circuitKey: string, epoch: number, lease: string][] = [];
  lookup: Lookup = { context: null, rejection: 'unknown_token' };
  /** True: lookups miss the cache and complete in a later turn. */
  lookupLater = false;
  admission: Admission = ADMITTED;
  admitLater = false;
  /** Not null: results of the counter store wait here. */
  pendingAdmissions: (() => void)[] | null = null;
  /** Runs while the counter store is called. */
  onAdmit = (): void => {};
  onPeek = (): void => {};
  /** What prechecks and `/v1/self` find; null: the store is away, undefined: no limit is used. */
  standing: (Omit<LimitSnapshot, 'takenAtSec'> & Partial<LimitSnapshot>) | null | undefined = undefined;
  circuit: BreakerStatus | null = null;
  probe: string | null = 'lease-1';
  /** Not null: requests for a probe lease wait here for their result. */
  pendingProbes: ((lease: string | null) => void)[] | null = null;
  spoolFull = false;
  /** Organizations that have used their part of the spool. */
  readonly spoolFullFor = new Set<string>();
  /** Not null: lookups of unknown tokens are rejected for this long. */
  unknownTokensWaitSec: number | null = null;
  readonly finishedLookups: boolean[] = [];
  readonly agentRefs: string[] = [];
  /** Accounts whose minted credential was requested. */
  readonly mintedAccounts: string[] = [];
  /** The lookup after a mint. */
  afterMint: (() => Lookup) | null = null;
  /** Not null: requests for a minted credential wait here for their result. */
  pendingMints: (() => void)[] | null = null;
  isOverRejectionLimit = false;
  /** Number of reads of {@link isOverRejectionLimit}. */
  rejectionChecks = 0;
  /** Null: records are confirmed in the next turn. Otherwise their confirmations wait here. */
  pendingRecords: ((error: Error | null) => void)[] | null = null;
  costNanos = 0;
  /** Dials addresses that tenants configured; null rejects all. */
  egress: Pick<Dialer, 'dial'> | null = null;
  bugs = 0;
  /** Number of response heads from upstreams; only with the fake metering. */
  planned = 0;
  port = 0;
  readonly pools: ConnectionPools;
  readonly server: ProxyServer;

  /**
   * `metering`: null uses a fake, with a meter that counts bytes and a price that the test sets. `deps` replace fakes of
   * the server.
   */
  constructor(
    options: Partial<ProxyOptions> = {},
    metering: CallMetering | null = null,
    timeouts: Partial<ConnectionPoolsOptions> = {},
    deps: Partial<ProxyDeps> = {},
  ) {
    const own = createLocalDialer({ connectTimeoutMs: 30_000 });
    this.pools = new ConnectionPools({
      headersTimeoutMs: 20_000,
      bodyTimeoutMs: 20_000,
      dialer: {
        dial: (target, onread, done) => {
          const dialer = target.tenant === null ? own : this.egress;
          if (dialer === null) done(new EgressBlocked('refused'), null);
          else dialer.dial(target, onread, done);
        },
      },
      ...timeouts,
    });
    this.server = new ProxyServer({ ...this.#deps(options, metering ?? this.#fakeMetering()), ...deps });
  }

  static async start(
    context: AgentContext,
    options: Partial<ProxyOptions> = {},
    metering: CallMetering | null = null,
    timeouts: Partial<ConnectionPoolsOptions> = {},
    deps: Partial<ProxyDeps> = {},
  ): Promise<ProxyFixture> {
    const fixture = new ProxyFixture(options, metering, timeouts, deps);
    fixture.lookup = { context, rejection: null };
    fixture.port = await fixture.server.listen('127.0.0.1', 0, false);
    return fixture;
  }

  async stop(): Promise<void> {
    await this.server.drain(0);
    this.server.close();
    this.pools.closeGracefully();
  }

  connect(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.port, '127.0.0.1', () => resolve(socket));
      socket.once('error', reject);
    });
  }

  #deps(options: Partial<ProxyOptions>, metering: CallMetering): ProxyDeps {
    const tokenHash = createHash('sha256').update(GATEWAY_TOKEN).digest('hex');
    const found = (hash: string): Lookup =>
      hash === tokenHash ? this.lookup : { context: null, rejection: 'unknown_token' };
    return {
      callRuns: () => Promise.reject(new Error('no control plane')),
      options: {
        headerBytesMax: 16_384,
        headerCountMax: 80,
        bufferedBodyBytesMax: 65_536,
        connectionsMax: 1_000,
        connectionsPerAddressMax: 1_000,
        isAddressExempt: () => true,
        processCount: 1,
        inflightMax: 1_000,
        inflightPerOrgMax: options.inflightMax ?? 1_000,
        webSocketsMax: 1_000,
        webSocketMessageBytesMax: 4 * MIB,
        webSocketPoolBytes: 256 * MIB,
        lingerTimeouts: { lingerMs: 0, unreadLingerMs: 0 },
        handshakeTimeoutMs: 30_000,
        connectTimeoutMs: 5_000,
        editedBodyBytesMax: 10 * 1024 * 1024,
        publicUrl: null,
        trustedProxyCidrs: [],
        editedBodiesBytesMax: 64 * 1024 * 1024,
        ...options,
      },
      unauthenticatedLimiter: {
        startLookup: () => this.unknownTokensWaitSec ?? new UnauthenticatedRateLimiter(1_000).startLookup('192.0.2.1'),
        finishLookup: (_asker, unknown) => void this.finishedLookups.push(unknown),
        isOverRejectionLimit: () => {
          this.rejectionChecks++;
          return this.isOverRejectionLimit;
        },
      },
      contexts: {
        get: (hash, ref) => {
          this.agentRefs.push(ref);
          return this.lookupLater ? null : found(hash);
        },
        resolve: (hash, _ref, _lane, done) => setImmediate(() => done(found(hash))),
        resolveMinted: (hash, _ref, accountId, _rejected, done) => {
          this.mintedAccounts.push(accountId);
          const answer = (): void => done(this.afterMint?.() ?? found(hash));
          if (this.pendingMints === null) setImmediate(answer);
          else this.pendingMints.push(answer);
        },
      },
      counters: {
        admit: (request, done) => {
          this.admissions.push(request);
          this.onAdmit();
          const { reservationNanos } = request;
          const admission = this.admission === ADMITTED ? { ...ADMITTED, reservationNanos } : this.admission;
          if (this.pendingAdmissions !== null) this.pendingAdmissions.push(() => done(admission));
          else if (this.admitLater) setImmediate(() => done(admission));
          else done(admission);
        },
        growReservation: (_terms, _admittedAtSec, nanos, done) => {
          this.growths.push(nanos);
          if (this.pendingGrowths === null) done(this.growths.length <= this.growthsMax);
          else this.pendingGrowths.push(done);
        },
        settle: (settlement) => {
          this.settlements.push(settlement);
          if (settlement.costNanos > 0) this.spend.push([settlement.limits.agentId, settlement.costNanos]);
        },
        peek: (request, done) => {
          this.limitPeeks.push(request);
          this.onPeek();
          if (this.standing === null) done(null);
          else done({ takenAtSec: ADMITTED.admittedAtSec, ...(this.standing ?? createUnusedSnapshot(request)) });
        },
      },
      breakers: {
        getStatus: () => this.circuit,
        onUpstreamAnswered: () => {},
        acquireProbe: (_key, _epoch, done) => {
          if (this.pendingProbes === null) setImmediate(() => done(this.probe));
          else this.pendingProbes.push(done);
        },
        releaseProbe: (_key, lease) => void this.releasedProbes.push(lease),
        reportProbeSuccess: (...probe) => void this.goodProbes.push(probe),
      },
      spool: this.#spool(),
      metering,
      pools: this.pools,
      rejectionCounter: {
        record: (_org, _agent, slug, reason, _nowMs, describe) => {
          this.rejections.push(`${slug} ${reason}`);
          this.rejectedCalls.push(describe());
        },
      },
      clientAddress: new ClientIpResolver([]),
      onAuthenticated: () => {},
      metrics: {
        onRejected: () => {},
        onSettled: () => {},
        onStreamOpened: () => {},
        onReservationExceeded: (nanos) => void this.exceeded.push(nanos),
        onInternalError: () => void this.bugs++,
      },
      log: createLogger('test', 'trace', (line) => void this.logLines.push(line)),
    };
  }

  #fakeMetering(): CallMetering {
    return {
      requestBytesToBufferForEdit: () => 0,
      scanAndEditRequestBody: (_exchange, body) => body,
      createRequestScanner: () => null,
      createMeterAndBodyEdit: (exchange) => {
        exchange.metering.meter = new CountingMeter();
        this.planned++;
        return null;
      },
      estimateUnanswered: () => null,
      mustDropRangeHeaders: () => false,
      priceUsage: () => ({ costNanos: this.costNanos, source: 'none' }),
      maxCostNanos: (_exchange, call) => {
        this.bounded.push(call);
        return this.boundNanos;
      },
    };
  }

  #spool(): ProxyDeps['spool'] {
    const fixture = this;
    return {
      get isFull() {
        return fixture.spoolFull;
      },
      isFullFor: (orgId) => this.spoolFullFor.has(orgId),
      appendRecord: (record, done) => {
        this.records.push(record);
        if (this.pendingRecords === null) setImmediate(done, null);
        else this.pendingRecords.push(done);
      },
    };
  }
}
