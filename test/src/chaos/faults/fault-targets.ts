/** The parts of the gateway in which a run injects faults, and how each recovers. */
import type { PlaneProcess } from '../../fixtures/plane-process.js';
import type { TcpProxy } from '../../fixtures/tcp-proxy.js';
import type { ChaosPostgres } from './chaos-postgres.js';
import type { FaultAction, Victim } from './fault-plan.js';
import type { RedisSentinelGroup } from './redis-sentinel-group.js';

export interface FaultTarget {
  readonly victim: Victim;
  inject(action: FaultAction): Promise<void>;
  recover(action: FaultAction): Promise<void>;
  /** The target serves again; an error counts as false. */
  isServing(): Promise<boolean>;
  /** The target is ready for the next fault. */
  isHealthy?(): Promise<boolean>;
}

const PROBE_TIMEOUT_MS = 5_000;
const RETRY_INTERVAL_MS = 250;
/** A plane exits at startup when its database is down; a supervisor would retry. */
const MAX_START_ATTEMPTS = 400;

/** A process of the run: a plane or the provider. */
export class ProcessTarget implements FaultTarget {
  /** True while the process is stopped on purpose or being started. */
  #isDownOnPurpose = false;

  constructor(
    readonly victim: Victim,
    readonly plane: PlaneProcess,
    /** Makes a restarted process listen on the same ports. */
    readonly env: Readonly<Record<string, string>>,
    /** Responds with 200 when the process serves. */
    readonly readyUrl: string | null,
    readonly proxies: readonly TcpProxy[] = [],
  ) {}

  async inject(action: FaultAction): Promise<void> {
    if (action === 'freeze') this.plane.pause();
    else if (action === 'cut') for (const proxy of this.proxies) proxy.cutConnections();
    else {
      this.#isDownOnPurpose = true;
      await this.plane.terminate(action === 'kill' ? 'SIGKILL' : 'SIGTERM');
    }
  }

  async recover(action: FaultAction): Promise<void> {
    if (action === 'freeze') this.plane.resume();
    else if (action === 'cut') for (const proxy of this.proxies) proxy.restore();
    else await this.start();
  }

  async start(): Promise<void> {
    this.#isDownOnPurpose = true;
    for (let starts = 1; ; starts++) {
      try {
        await this.plane.start(this.env);
        this.#isDownOnPurpose = false;
        return;
      } catch (error) {
        if (starts === MAX_START_ATTEMPTS) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_INTERVAL_MS));
    }
  }

  async isServing(): Promise<boolean> {
    if (this.readyUrl === null) return true;
    const answer = await fetch(this.readyUrl, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    return answer.status === 200;
  }

  /** The process exited although no fault stopped it. */
  get hasExitedUnexpectedly(): boolean {
    return !this.#isDownOnPurpose && !this.plane.isRunning;
  }
}

export class PostgresTarget implements FaultTarget {
  readonly victim = 'postgres';

  constructor(
    readonly postgres: ChaosPostgres,
    readonly proxy: TcpProxy,
  ) {}

  async inject(action: FaultAction): Promise<void> {
    if (action === 'freeze') this.postgres.freeze();
    else if (action === 'cut') this.proxy.cutConnections();
    else await this.postgres.kill();
  }

  async recover(action: FaultAction): Promise<void> {
    if (action === 'freeze') this.postgres.resume();
    else if (action === 'cut') this.proxy.restore();
    else await this.postgres.restart();
  }

  async isServing(): Promise<boolean> {
    await this.postgres.sql`select 1`;
    return true;
  }
}

/** Injects faults in the server that is the primary at that moment. */
export class RedisTarget implements FaultTarget {
  readonly victim = 'redis';
  #faultedPrimary: Awaited<ReturnType<RedisSentinelGroup['primary']>> | null = null;

  constructor(
    readonly group: RedisSentinelGroup,
    /** Whether every data plane that responds enforces limits. */
    readonly isEnforcing: () => Promise<boolean>,
  ) {}

  async inject(action: FaultAction): Promise<void> {
    const primary = await this.group.primary();
    this.#faultedPrimary = primary;
    if (action === 'freeze') primary.server.pause();
    else if (action === 'cut') primary.proxy.cutConnections();
    else if (action === 'failover') await this.group.triggerFailover();
    else await primary.server.kill();
  }

  async recover(action: FaultAction): Promise<void> {
    if (action === 'freeze') this.#faultedPrimary!.server.resume();
    else if (action === 'cut') this.#faultedPrimary!.proxy.restore();
    else if (action === 'kill') await this.#faultedPrimary!.server.restart();
  }

  /** From here on, writes to the primary survive. */
  async isServing(): Promise<boolean> {
    return (await this.group.doSentinelsAgree()) && (await this.isEnforcing());
  }

  isHealthy(): Promise<boolean> {
    return this.group.isReplicaInSync();
  }
}
