/** One part of the gateway that is hurt and healed. */
import type { TestPlane } from '../plane-process.js';
import type { TcpProxy } from '../tcp-proxy.js';
import type { Action, Victim } from './plan.js';
import type { PostgresPart } from './postgres-part.js';
import type { RedisGroup } from './redis-group.js';

export interface Part {
  readonly victim: Victim;
  hurt(action: Action): Promise<void>;
  heal(action: Action): Promise<void>;
  /** It serves again; an error counts as not yet. */
  serves(): Promise<boolean>;
  /** It can be hurt again. */
  whole?(): Promise<boolean>;
}

const QUESTION_TIMEOUT_MS = 5_000;
const RETRY_MS = 250;
/** A plane whose database is away refuses to start; whoever supervises it tries again. */
const STARTS_MAX = 400;

/** A process of ours, whoever it is behind which proxies. */
export class ProcessPart implements Part {
  /** Told to end, or being started. */
  #away = false;

  constructor(
    readonly victim: Victim,
    readonly plane: TestPlane,
    /** What makes a restarted one listen where it did. */
    readonly env: Readonly<Record<string, string>>,
    /** Answers 200 when it serves. */
    readonly readyUrl: string | null,
    readonly proxies: readonly TcpProxy[] = [],
  ) {}

  async hurt(action: Action): Promise<void> {
    if (action === 'freeze') this.plane.freeze();
    else if (action === 'cut') for (const proxy of this.proxies) proxy.sever();
    else {
      this.#away = true;
      await this.plane.end(action === 'kill' ? 'SIGKILL' : 'SIGTERM');
    }
  }

  async heal(action: Action): Promise<void> {
    if (action === 'freeze') this.plane.thaw();
    else if (action === 'cut') for (const proxy of this.proxies) proxy.mend();
    else await this.start();
  }

  async start(): Promise<void> {
    this.#away = true;
    for (let starts = 1; ; starts++) {
      try {
        await this.plane.start(this.env);
        this.#away = false;
        return;
      } catch (error) {
        if (starts === STARTS_MAX) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  async serves(): Promise<boolean> {
    if (this.readyUrl === null) return true;
    const answer = await fetch(this.readyUrl, { signal: AbortSignal.timeout(QUESTION_TIMEOUT_MS) });
    return answer.status === 200;
  }

  /** Ended though nobody told it to. */
  get endedByItself(): boolean {
    return !this.#away && !this.plane.running;
  }
}

export class PostgresVictim implements Part {
  readonly victim = 'postgres';

  constructor(
    readonly postgres: PostgresPart,
    readonly proxy: TcpProxy,
  ) {}

  async hurt(action: Action): Promise<void> {
    if (action === 'freeze') this.postgres.freeze();
    else if (action === 'cut') this.proxy.sever();
    else await this.postgres.kill();
  }

  async heal(action: Action): Promise<void> {
    if (action === 'freeze') this.postgres.thaw();
    else if (action === 'cut') this.proxy.mend();
    else await this.postgres.restart();
  }

  async serves(): Promise<boolean> {
    await this.postgres.sql`select 1`;
    return true;
  }
}

/** Whoever is the primary when it is hurt. */
export class RedisVictim implements Part {
  readonly victim = 'redis';
  #hurt: Awaited<ReturnType<RedisGroup['primary']>> | null = null;

  constructor(
    readonly group: RedisGroup,
    /** Whether every data plane that can be asked enforces limits. */
    readonly enforced: () => Promise<boolean>,
  ) {}

  async hurt(action: Action): Promise<void> {
    const primary = await this.group.primary();
    this.#hurt = primary;
    if (action === 'freeze') primary.server.pause();
    else if (action === 'cut') primary.proxy.sever();
    else if (action === 'failover') await this.group.orderFailover();
    else await primary.server.kill();
  }

  async heal(action: Action): Promise<void> {
    if (action === 'freeze') this.#hurt!.server.resume();
    else if (action === 'cut') this.#hurt!.proxy.mend();
    else if (action === 'kill') await this.#hurt!.server.restart();
  }

  /** What is told to the primary from now on is not lost with it. */
  async serves(): Promise<boolean> {
    return (await this.group.agreed()) && (await this.enforced());
  }

  whole(): Promise<boolean> {
    return this.group.whole();
  }
}
