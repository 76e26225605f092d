/**
 * The connect breakers of this process: one per origin of a built-in provider that is the same for all organizations. An
 * open one dials by itself, about once a second and without a call, and closes when that succeeds. The control plane
 * hears of contacts and of changes; without one each process goes by its own.
 */
import type { Socket } from 'node:net';
import type { Logger } from '@acg/base/log';
import type { IOriginContact } from '@acg/proto/messages';
import { ConnectBreaker } from './connect-breaker.js';

interface ConnectBreakerRegistryOptions {
  /** Opens a connection, TLS included; calls back once. */
  dial(origin: string, done: (error: Error | null, socket: Socket | null) => void): void;
  /** Tells the control plane. Rejects when it cannot be reached. */
  reportContacts(contacts: IOriginContact[]): Promise<unknown>;
  /** Whether the event loop stood still at any time since then (`performance.now()`). */
  hasStalledSince(ms: number): boolean;
  readonly log: Logger;
  /** Steady, ms. */
  readonly nowMs?: () => number;
  readonly random?: () => number;
}

const PROBE_INTERVAL_MS = 1_000;
const PROBE_JITTER = 0.5;
const REPORT_INTERVAL_MS = 5_000;
/** An older contact is not reported. */
const CONTACT_AGE_MS_MAX = 30_000;

export class ConnectBreakerRegistry {
  readonly #options: ConnectBreakerRegistryOptions;
  readonly #nowMs: () => number;
  readonly #random: () => number;
  readonly #log: Logger;
  /** By origin. As many as built-in providers have. */
  readonly #breakers = new Map<string, ConnectBreaker>();
  readonly #probeTimers = new Map<string, NodeJS.Timeout>();
  readonly #reportTimer: NodeJS.Timeout;
  #stopped = false;

  constructor(options: ConnectBreakerRegistryOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#random = options.random ?? Math.random;
    this.#log = options.log;
    this.#reportTimer = setInterval(() => this.#reportContacts(), REPORT_INTERVAL_MS).unref();
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#reportTimer);
    for (const probe of this.#probeTimers.values()) clearTimeout(probe);
    this.#probeTimers.clear();
  }

  /** Whether calls to the origin are refused. From its first question on the origin is watched. */
  isOpen(origin: string): boolean {
    const breaker = this.#breakers.get(origin);
    if (breaker !== undefined) return breaker.isOpen;
    this.#breakers.set(origin, new ConnectBreaker());
    return false;
  }

  /** Breakers that are open, for metrics. */
  get open(): number {
    return this.#probeTimers.size;
  }

  /**
   * A connect ended. `startedMs`: `performance.now()` at its beginning. `local`: it failed for want of something on this
   * machine, such as file descriptors, which says nothing about the origin.
   */
  onDialed(origin: string, startedMs: number, failure: { readonly local: boolean } | null): void {
    const breaker = this.#breakers.get(origin);
    if (breaker === undefined) return;
    if (failure === null) this.#recordSuccess(origin, breaker);
    else if (!failure.local && !this.#options.hasStalledSince(startedMs) && breaker.recordFailure(this.#nowMs())) {
      this.#log.warn({ origin }, 'cannot connect to the provider: its calls are refused until a connect succeeds');
      this.#scheduleProbe(origin);
      this.#reportContacts();
    }
  }

  /** The origin has answered a call, with whatever status. */
  onAnswered(origin: string): void {
    const breaker = this.#breakers.get(origin);
    if (breaker !== undefined) this.#recordSuccess(origin, breaker);
  }

  #recordSuccess(origin: string, breaker: ConnectBreaker): void {
    if (!breaker.recordSuccess(this.#nowMs())) return;
    clearTimeout(this.#probeTimers.get(origin));
    this.#probeTimers.delete(origin);
    this.#log.info({ origin }, 'connected to the provider again');
    this.#reportContacts();
  }

  /** The outcome is heard of like that of any other connect. */
  #scheduleProbe(origin: string): void {
    const waitMs = PROBE_INTERVAL_MS * (1 - PROBE_JITTER / 2 + PROBE_JITTER * this.#random());
    const probe = setTimeout(() => {
      this.#options.dial(origin, (_error, socket) => {
        socket?.destroy();
        // Another one where the breaker has closed and opened again meanwhile.
        if (this.#probeTimers.get(origin) === probe) this.#scheduleProbe(origin);
      });
    }, waitMs).unref();
    this.#probeTimers.set(origin, probe);
  }

  #reportContacts(): void {
    const nowMs = this.#nowMs();
    const contacts: IOriginContact[] = [];
    for (const [origin, breaker] of this.#breakers) {
      const ageMs = Math.max(0, Math.round(nowMs - breaker.lastContactMs));
      if (ageMs <= CONTACT_AGE_MS_MAX) contacts.push({ origin, ageMs, unreachable: breaker.isOpen });
    }
    if (contacts.length === 0 || this.#stopped) return;
    this.#options.reportContacts(contacts).catch((error: unknown) => {
      this.#log.debug({ err: error }, 'contacts with providers not reported'); // the next report says the same
    });
  }
}
