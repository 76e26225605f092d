/**
 * Carries the spool to the control plane: one batch at a time, in order, again and again until it is acknowledged.
 * An acknowledged batch is committed in the ledger; a batch sent twice is known there by its ids. While the control
 * plane is away the spool grows, and its byte cap is the backpressure.
 */
import { Backoff } from '@acg/base/backoff';
import type { Logger } from '@acg/base/log';
import type { Spool, SpoolBatch } from './spool.js';

/** `refused`: the control plane will never take these bytes. A transport problem is a rejected promise. */
export type ShipOutcome =
  | { readonly kind: 'booked'; readonly rejected: readonly { readonly id: string; readonly reason: string }[] }
  | { readonly kind: 'refused'; readonly reason: string };

export interface UsageSink {
  /** Sends the encoded body of a ReportUsage call. */
  ship(body: Buffer): Promise<ShipOutcome>;
}

interface ShipperOptions {
  readonly dataPlaneId: string;
  /** Records per call. */
  readonly recordsMax?: number;
  /** How long the first record of a batch waits for more. */
  readonly lingerMs?: number;
  readonly backoff?: Backoff;
  /** How often segments of dead workers are looked for. */
  readonly adoptEveryMs?: number;
}

interface ShipperFigures {
  readonly recordsShipped: number;
  readonly recordsRejected: number;
  readonly failures: number;
  /** Whether the last call succeeded. */
  readonly connected: boolean;
}

/** Bounds the parts of one call; its bytes are bounded by what the spool reads at once, 512 KiB. */
const FRAMES_MAX = 2_000;
const STOP_GRACE_MS = 1_000;

export class Shipper {
  readonly #spool: Spool;
  readonly #sink: UsageSink;
  readonly #log: Logger;
  readonly #idField: Buffer;
  readonly #recordsMax: number;
  readonly #lingerMs: number;
  readonly #backoff: Backoff;
  readonly #adoptTimer: NodeJS.Timeout;
  readonly #loop: Promise<void>;
  #stopped = false;
  #flushing = 0;
  #signalled = false;
  #wake: (() => void) | null = null;
  #interrupt: (() => void) | null = null;
  #idle: (() => void)[] = [];
  /** After a refusal: how many frames still go one by one. */
  #singleFramesLeft = 0;
  #connected = true;
  #recordsShipped = 0;
  #recordsRejected = 0;
  #failures = 0;

  /** Starts shipping at once. */
  constructor(spool: Spool, sink: UsageSink, options: ShipperOptions, log: Logger) {
    this.#spool = spool;
    this.#sink = sink;
    this.#log = log;
    const id = Buffer.from(options.dataPlaneId).subarray(0, 127);
    this.#idField = Buffer.concat([Buffer.from([0x0a, id.length]), id]); // field 1, data_plane_id
    this.#recordsMax = options.recordsMax ?? 2_000;
    this.#lingerMs = options.lingerMs ?? 100;
    this.#backoff = options.backoff ?? new Backoff(200, 5_000);
    spool.onAppended = this.#wakeUp;
    this.#adoptTimer = setInterval(() => this.#adopt(), options.adoptEveryMs ?? 10_000).unref();
    this.#loop = this.#run();
  }

  figures(): ShipperFigures {
    return {
      recordsShipped: this.#recordsShipped,
      recordsRejected: this.#recordsRejected,
      failures: this.#failures,
      connected: this.#connected,
    };
  }

  /** Sends everything without lingering. True when all of it was acknowledged within the time. */
  async flush(timeoutMs: number): Promise<boolean> {
    this.#spool.flush();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    this.#flushing++;
    const idle = new Promise<void>((resolve) => this.#idle.push(resolve));
    this.#wakeUp();
    this.#interrupt?.();
    await Promise.race([idle, timeout]);
    clearTimeout(timer);
    this.#flushing--;
    return this.#spool.figures().bytesUnacknowledged === 0;
  }

  /** Stops, and waits a moment for the call under way. What is not acknowledged stays in the spool. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#adoptTimer);
    this.#spool.onAppended = null;
    this.#wakeUp();
    this.#interrupt?.();
    // A control plane that is silent must not hold up the end of this process: its records stay in the spool.
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STOP_GRACE_MS);
    });
    await Promise.race([this.#loop, grace]);
    clearTimeout(timer);
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const batch = await this.#read();
      if (batch === null) {
        for (const resolve of this.#idle.splice(0)) resolve();
        await this.#work();
      } else {
        await this.#deliver(batch);
        if (batch.records >= this.#recordsMax) continue;
      }
      if (this.#flushing === 0 && this.#singleFramesLeft === 0) await this.#sleep(this.#lingerMs);
    }
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #read(): Promise<SpoolBatch | null> {
    const framesMax = this.#singleFramesLeft > 0 ? 1 : FRAMES_MAX;
    try {
      return await this.#spool.read({ recordsMax: this.#recordsMax, framesMax });
    } catch (error) {
      this.#log.error({ err: error }, 'the usage spool cannot be read');
      await this.#sleep(this.#backoff.nextMs());
      this.#wakeUp();
      return null;
    }
  }

  async #deliver(batch: SpoolBatch): Promise<void> {
    const body = Buffer.concat([this.#idField, ...batch.payloads]);
    while (!this.#stopped) {
      try {
        const outcome = await this.#sink.ship(body);
        this.#reached();
        if (outcome.kind === 'refused') this.#refused(batch, outcome.reason);
        else this.#booked(batch, outcome.rejected);
        return;
      } catch (error) {
        this.#missed(error);
        await this.#sleep(this.#backoff.nextMs());
      }
    }
  }

  #booked(batch: SpoolBatch, rejected: readonly { readonly id: string; readonly reason: string }[]): void {
    this.#spool.acknowledge(batch);
    this.#singleFramesLeft = Math.max(0, this.#singleFramesLeft - 1);
    this.#recordsShipped += batch.records;
    this.#recordsRejected += rejected.length;
    if (rejected.length === 0) return;
    this.#log.warn({ count: rejected.length, first: rejected[0] }, 'the control plane set usage records aside');
  }

  /** One bad frame must not hold up the rest: frames go one by one until the bad one is found and set aside. */
  #refused(batch: SpoolBatch, reason: string): void {
    if (batch.payloads.length > 1) {
      this.#singleFramesLeft = batch.payloads.length; // nothing was acknowledged: the same bytes are read again
      return;
    }
    this.#log.error({ reason, records: batch.records }, 'the control plane refuses a batch of usage records');
    this.#spool.refuse(batch);
    this.#singleFramesLeft = Math.max(0, this.#singleFramesLeft - 1);
  }

  #reached(): void {
    this.#backoff.reset();
    if (!this.#connected) this.#log.info('the control plane takes usage records again');
    this.#connected = true;
  }

  #missed(error: unknown): void {
    this.#failures++;
    if (this.#connected) this.#log.warn({ err: error }, 'the control plane does not take usage records: spooling');
    this.#connected = false;
  }

  /** Waits until something was appended, or flush or stop is called. */
  async #work(): Promise<void> {
    if (!this.#signalled && !this.#stopped) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = null;
    this.#signalled = false;
  }

  /** Waits; only the call of flush or stop ends it early, never an append. */
  async #sleep(ms: number): Promise<void> {
    if (this.#stopped) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
      this.#interrupt = resolve;
    });
    clearTimeout(timer);
    this.#interrupt = null;
  }

  readonly #wakeUp = (): void => {
    this.#signalled = true;
    this.#wake?.();
  };

  #adopt(): void {
    try {
      this.#spool.adopt();
    } catch (error) {
      this.#log.error({ err: error }, 'the spool directory cannot be searched');
    }
    if (this.#spool.figures().bytesUnacknowledged > 0) this.#wakeUp();
  }
}
