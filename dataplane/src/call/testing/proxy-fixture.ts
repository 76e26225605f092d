/** For tests: the real server with hand-written fakes for everything that is not the data plane's core. */
import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Dialer } from '@acg/base/dialer/dialer';
import { EgressRefused } from '@acg/base/egress/guard';
import { createLogger } from '@acg/base/log';
import type { IUsageRecord } from '@acg/proto/messages';
import type { Circuit } from '../../circuit/circuits.js';
import type { AgentContext, Upstream } from '../../context/agent-context.js';
import type { Lookup } from '../../context/context-cache.js';
import { monthOfMs } from '../../counters/calendar-month.js';
import type {
  Admission,
  AdmissionRequest,
  AgentStanding,
  Settlement,
  StandingRequest,
} from '../../counters/counters.js';
import { LIMIT_TABLE, type LimitType } from '../../counters/limit-table.js';
import { termsOf } from '../../counters/testing/terms-fixture.js';
import type { UsageMeter, UsageReading } from '../../metering/meter.js';
import type { BoundedCall } from '../../pricing/cost-bound.js';
import { type ProxyDeps, type ProxyOptions, ProxyServer } from '../../server.js';
import { type PoolOptions, UpstreamPools } from '../../upstream/pools.js';
import { localDialer } from '../../upstream/upstream-call-fixture.js';
import type { CallMetering } from '../call-metering.js';

export const GATEWAY_TOKEN = `acg_${'0123456789abcdef'.repeat(4)}`;
const MIB = 1024 * 1024;
export const PROVIDER_KEY = 'sk-provider-secret';

export function upstreamOf(origin: string, changes: Partial<Upstream> = {}): Upstream {
  return {
    providerSlug: 'openai',
    publicSlug: 'openai',
    accountId: 'account-1',
    accountStatus: 'active',
    custom: false,
    origin,
    basePath: '',
    tenantAddress: false,
    circuitKey: `openai ${origin}`,
    fleetKey: '',
    injection: {
      kind: 'header',
      name: 'authorization',
      value: `Bearer ${PROVIDER_KEY}`,
      alternatives: new Map(),
      bearerUnlessUserJwt: null,
      extraHeaders: [],
      extraQuery: [],
      dropHeaders: new Set(),
      secretForms: [PROVIDER_KEY],
    },
    usageFormat: 'none',
    priceProvider: '',
    failureStatuses: new Set([500, 502, 503, 504]),
    failureExemptMarker: null,
    websocket: false,
    sensitiveCalls: [],
    policy: null,
    modelCalls: [],
    ...changes,
  };
}

export function contextOf(upstreams: readonly Upstream[], changes: Partial<AgentContext> = {}): AgentContext {
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
    terms: termsOf({ agentId: 'agent-1' }),
    upstreams: new Map(upstreams.map((upstream) => [upstream.providerSlug, upstream])),
    unassignedProviders: new Set(['anthropic']),
    ...changes,
  };
}

const READING: UsageReading = {
  tokensInUncached: 0,
  tokensCacheRead: 0,
  tokensCacheWrite: 0,
  tokensOut: 0,
  tokensReasoning: 0,
  model: null,
  source: 'none',
  streamError: null,
  extras: {} as UsageReading['extras'],
};

/** Counts the bytes it observes. */
class CountingMeter implements UsageMeter {
  bytes = 0;
  observe(chunk: Buffer): void {
    this.bytes += chunk.length;
  }
  get tokensOutSeen(): number {
    return -1;
  }
  finish(): UsageReading {
    return { ...READING, tokensOut: this.bytes };
  }
}

export const ADMITTED: Admission = {
  outcome: 'admitted',
  refusedBy: -1,
  passesAtSec: 0,
  rpmRemaining: 59,
  rpmResetAtSec: 1_900_000_000,
  month: monthOfMs(Date.UTC(2026, 10)),
  spentNanos: 0,
  heldNanos: 0,
  holdNanos: 0,
};

/** A refusal by the first row of that type. */
export const refusedAdmission = (type: LimitType, passesAtSec: number, spentNanos = 0): Admission => {
  const refusedBy = LIMIT_TABLE.findIndex((row) => row.type === type);
  return {
    ...ADMITTED,
    outcome: type,
    refusedBy,
    passesAtSec,
    rpmRemaining: 0,
    rpmResetAtSec: passesAtSec,
    spentNanos,
  };
};

/** Every part that a test may look at or change while the server runs. */
export class Fixture {
  readonly records: IUsageRecord[] = [];
  /** Everything that would be printed, at the most talkative level. */
  readonly logLines: string[] = [];
  readonly rejections: string[] = [];
  readonly admissions: AdmissionRequest[] = [];
  /** Looks at the limits that consumed nothing. */
  readonly looks: StandingRequest[] = [];
  readonly settlements: Settlement[] = [];
  readonly exceeded: number[] = [];
  /** Larger holds that calls asked for, nano-dollars; the first so many are granted. */
  readonly growths: number[] = [];
  growthsMax = 0;
  /** Not null: whoever asks for a larger hold waits here for the answer. */
  heldGrowths: ((granted: boolean) => void)[] | null = null;
  /** What every call may cost at most. */
  boundNanos = 0;
  /** Calls of which that was asked. */
  readonly bounded: BoundedCall[] = [];
  readonly spend: [agentId: string, costNanos: number][] = [];
  readonly releasedProbes: string[] = [];
  readonly goodProbes: [circuitKey: string, epoch: number, lease: string][] = [];
  lookup: Lookup = { context: null, refusal: 'unknown_token' };
  /** The next lookups miss and answer later. */
  lookupLater = false;
  admission: Admission = ADMITTED;
  admitLater = false;
  /** Not null: the store's answers wait here. */
  heldAdmissions: (() => void)[] | null = null;
  /** Runs while the store is asked. */
  onAdmit = (): void => {};
  standing: AgentStanding | null = null;
  circuit: Circuit | null = null;
  probe: string | null = 'lease-1';
  /** Not null: whoever asks for a probe place waits here for the answer. */
  heldProbes: ((lease: string | null) => void)[] | null = null;
  spoolFull = false;
  /** Organizations whose records have all of the spool that they may. */
  readonly spoolFullFor = new Set<string>();
  /** Tokens that the cache does not know are refused for so long. */
  unknownTokensWaitSec: number | null = null;
  /** Of each question about a token that has been answered: whether it was unknown. */
  readonly answered: boolean[] = [];
  /** The agents that requests named; `''` = none. */
  readonly agentRefs: string[] = [];
  /** Refusals of callers that nobody knows are one of a flood. */
  isFlood = false;
  /** How often that was asked. */
  floods = 0;
  /** Null: records are confirmed in the next turn; else they wait here. */
  heldRecords: ((error: Error | null) => void)[] | null = null;
  costNanos = 0;
  /** Dials the addresses that tenants gave; null refuses all. */
  egress: Pick<Dialer, 'dial'> | null = null;
  bugs = 0;
  /** Response heads that arrived from upstreams; only with the fake metering. */
  planned = 0;
  port = 0;
  readonly pools: UpstreamPools;
  readonly server: ProxyServer;

  /** `metering`: null fakes it (a meter that counts bytes, a price that the test sets). */
  constructor(
    options: Partial<ProxyOptions> = {},
    metering: CallMetering | null = null,
    timeouts: Partial<PoolOptions> = {},
  ) {
    const own = localDialer({ connectTimeoutMs: 30_000 });
    this.pools = new UpstreamPools({
      headersTimeoutMs: 20_000,
      bodyTimeoutMs: 20_000,
      dialer: {
        dial: (target, onread, done) => {
          const dialer = target.tenant === null ? own : this.egress;
          if (dialer === null) done(new EgressRefused('refused'), null);
          else dialer.dial(target, onread, done);
        },
      },
      ...timeouts,
    });
    this.server = new ProxyServer(this.#deps(options, metering ?? this.#fakeMetering()));
  }

  static async start(
    context: AgentContext,
    options: Partial<ProxyOptions> = {},
    metering: CallMetering | null = null,
    timeouts: Partial<PoolOptions> = {},
  ): Promise<Fixture> {
    const fixture = new Fixture(options, metering, timeouts);
    fixture.lookup = { context, refusal: null };
    fixture.port = await fixture.server.listen('127.0.0.1', 0, false);
    return fixture;
  }

  async stop(): Promise<void> {
    await this.server.drain(0);
    this.server.close();
    this.pools.close();
  }

  /** A raw connection to the agents' port. */
  connect(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.port, '127.0.0.1', () => resolve(socket));
      socket.once('error', reject);
    });
  }

  #deps(options: Partial<ProxyOptions>, metering: CallMetering): ProxyDeps {
    const tokenHash = createHash('sha256').update(GATEWAY_TOKEN).digest('hex');
    const found = (hash: string): Lookup =>
      hash === tokenHash ? this.lookup : { context: null, refusal: 'unknown_token' };
    return {
      options: {
        headerBytesMax: 16_384,
        headerCountMax: 80,
        bufferedBodyBytesMax: 65_536,
        connectionsMax: 1_000,
        connectionsPerAddressMax: 1_000,
        exemptAddress: () => true,
        sharers: 1,
        inflightMax: 1_000,
        inflightPerOrgMax: options.inflightMax ?? 1_000,
        webSocketsMax: 1_000,
        webSocketMessageBytesMax: 4 * MIB,
        webSocketPoolBytes: 256 * MIB,
        lingering: { ms: 0, unreadMs: 0 },
        handshakeTimeoutMs: 30_000,
        editedBodyBytesMax: 10 * 1024 * 1024,
        publicUrl: null,
        trustedProxyCidrs: [],
        editedBodiesBytesMax: 64 * 1024 * 1024,
        ...options,
      },
      unknownTokens: {
        ask: () => this.unknownTokensWaitSec ?? { allowance: 1, refusals: 1, atMs: 0, pending: 0 },
        answered: (_asker, unknown) => void this.answered.push(unknown),
        isFlood: () => {
          this.floods++;
          return this.isFlood;
        },
      },
      contexts: {
        get: (hash, ref) => {
          this.agentRefs.push(ref);
          return this.lookupLater ? null : found(hash);
        },
        resolve: (hash, _ref, _lane, done) => setImmediate(() => done(found(hash))),
      },
      counters: {
        admit: (request, done) => {
          this.admissions.push(request);
          this.onAdmit();
          const { holdNanos } = request;
          const admission = this.admission === ADMITTED ? { ...ADMITTED, holdNanos } : this.admission;
          if (this.heldAdmissions !== null) this.heldAdmissions.push(() => done(admission));
          else if (this.admitLater) setImmediate(() => done(admission));
          else done(admission);
        },
        grow: (_terms, nanos, done) => {
          this.growths.push(nanos);
          if (this.heldGrowths === null) done(this.growths.length <= this.growthsMax);
          else this.heldGrowths.push(done);
        },
        settle: (settlement) => {
          this.settlements.push(settlement);
          if (settlement.costNanos > 0) this.spend.push([settlement.terms.agentId, settlement.costNanos]);
        },
        standing: (request, done) => {
          this.looks.push(request);
          done(this.standing);
        },
      },
      circuits: {
        view: () => this.circuit,
        answered: () => {},
        acquireProbe: (_key, _epoch, done) => {
          if (this.heldProbes === null) setImmediate(() => done(this.probe));
          else this.heldProbes.push(done);
        },
        releaseProbe: (_key, lease) => void this.releasedProbes.push(lease),
        probeSucceeded: (...probe) => void this.goodProbes.push(probe),
      },
      spool: this.#spool(),
      metering,
      pools: this.pools,
      tally: { count: (_org, _agent, slug, reason) => void this.rejections.push(`${slug} ${reason}`) },
      onAuthenticated: () => {},
      metrics: {
        onRejected: () => {},
        onSettled: () => {},
        onStreamOpened: () => {},
        onHoldExceeded: (nanos) => void this.exceeded.push(nanos),
        onBug: () => void this.bugs++,
      },
      log: createLogger('test', 'trace', (line) => void this.logLines.push(line)),
    };
  }

  #fakeMetering(): CallMetering {
    return {
      bodyBytesWanted: () => 0,
      request: (_x, body) => body,
      requestObserver: () => null,
      response: (x) => {
        x.meter = new CountingMeter();
        this.planned++;
        return null;
      },
      unanswered: () => null,
      fetchedWhole: () => false,
      price: () => ({ costNanos: this.costNanos, source: 'none' }),
      bound: (_x, call) => {
        this.bounded.push(call);
        return this.boundNanos;
      },
    };
  }

  #spool(): ProxyDeps['spool'] {
    const fixture = this;
    return {
      get full() {
        return fixture.spoolFull;
      },
      isFullFor: (orgId) => this.spoolFullFor.has(orgId),
      append: (record, done) => {
        this.records.push(record);
        if (this.heldRecords === null) setImmediate(done, null);
        else this.heldRecords.push(done);
      },
    };
  }
}
