/**
 * The connect breakers of this process: one per origin of a built-in provider that is the same for all organizations. An
 * open one dials by itself, about once a second and without a call, and closes when that succeeds. The control plane
 * hears of contacts and of changes; without one each process goes by its own.
 */
import type { Socket } from 'node:net';
import type { Logger } from '@acg/base/log';
import type { IOriginContact } from '@acg/proto/messages';
import { ConnectBreaker } from './connect-breaker.js';

interface ConnectBreakersOptions {
  /** Opens a connection, TLS included; calls back once. */
  dial(origin: string, done: (error: Error | null, socket: Socket | null) => void): void;
  /** Tells the control plane. Rejects when it cannot be reached. */
  report(contacts: IOriginContact[]): Promise<unknown>;
  /** Whether the event loop stood still at any time since then (`performance.now()`). */
  stalledSince(ms: number): boolean;
  readonly log: Logger;
  /** Steady, ms. */
  readonly nowMs?: () => number;
  readonly random?: () => number;
}

const PROBE_MS = 1_000;
const PROBE_JITTER = 0.5;
const REPORT_MS = 5_000;
/** An older contact is not reported. */
const CONTACT_MS = 30_000;

export class ConnectBreakers {
  readonly #options: ConnectBreakersOptions;
  readonly #nowMs: () => number;
  readonly #random: () => number;
  readonly #log: Logger;
  /** By origin. As many as built-in providers have. */
  readonly #breakers = new Map<string, ConnectBreaker>();
  readonly #probes = new Map<string, NodeJS.Timeout>();
  readonly #reports: NodeJS.Timeout;
  #stopped = false;

  constructor(options: ConnectBreakersOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#random = options.random ?? Math.random;
    this.#log = options.log;
    this.#reports = setInterval(() => this.#report(), REPORT_MS).unref();
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#reports);
    for (const probe of this.#probes.values()) clearTimeout(probe);
    this.#probes.clear();
  }

  /** Whether calls to the origin are refused. From its first question on the origin is watched. */
  isOpen(origin: string): boolean {
    const breaker = this.#breakers.get(origin);
    if (breaker !== undefined) return breaker.open;
    this.#breakers.set(origin, new ConnectBreaker());
    return false;
  }

  /** Breakers that are open, for metrics. */
  get open(): number {
    return this.#probes.size;
  }

  /**
   * A connect ended. `startedMs`: `performance.now()` at its beginning. `local`: it failed for want of something on this
   * machine, such as file descriptors, which says nothing about the origin.
   */
  dialled(origin: string, startedMs: number, failure: { readonly local: boolean } | null): void {
    const breaker = this.#breakers.get(origin);
    if (breaker === undefined) return;
    if (failure === null) this.#reached(origin, breaker);
    else if (!failure.local && !this.#options.stalledSince(startedMs) && breaker.failed(this.#nowMs())) {
      this.#log.warn({ origin }, 'cannot connect to the provider: its calls are refused until a connect succeeds');
      this.#probe(origin);
      this.#report();
    }
  }

  /** The origin has answered a call, with whatever status. */
  answered(origin: string): void {
    const breaker = this.#breakers.get(origin);
    if (breaker !== undefined) this.#reached(origin, breaker);
  }

  #reached(origin: string, breaker: ConnectBreaker): void {
    if (!breaker.reached(this.#nowMs())) return;
    clearTimeout(this.#probes.get(origin));
    this.#probes.delete(origin);
    this.#log.info({ origin }, 'connected to the provider again');
    this.#report();
  }

  /** The outcome is heard of like that of any other connect. */
  #probe(origin: string): void {
    const waitMs = PROBE_MS * (1 - PROBE_JITTER / 2 + PROBE_JITTER * this.#random());
    const probe = setTimeout(() => {
      this.#options.dial(origin, (_error, socket) => {
        socket?.destroy();
        // Another one where the breaker has closed and opened again meanwhile.
        if (this.#probes.get(origin) === probe) this.#probe(origin);
      });
    }, waitMs).unref();
    this.#probes.set(origin, probe);
  }

  #report(): void {
    const nowMs = this.#nowMs();
    const contacts: IOriginContact[] = [];
    for (const [origin, breaker] of this.#breakers) {
      const ageMs = Math.max(0, Math.round(nowMs - breaker.contactMs));
      if (ageMs <= CONTACT_MS) contacts.push({ origin, ageMs, unreachable: breaker.open });
    }
    if (contacts.length === 0 || this.#stopped) return;
    this.#options.report(contacts).catch((error: unknown) => {
      this.#log.debug({ err: error }, 'contacts with providers not reported'); // the next report says the same
    });
  }
}
