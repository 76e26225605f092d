/**
 * The connect breakers of this process: one for each origin of a built-in provider that all organizations share. An
 * open breaker dials the origin about once a second without a call and closes when that succeeds. Contacts and changes
 * are reported to the control plane; without it each process uses its own breakers only.
 */
import type { Socket } from 'node:net';
import type { Logger } from '@acg/base/log';
import type { IOriginContact } from '@acg/proto/messages';
import { ConnectBreaker } from './connect-breaker.js';

interface ConnectBreakerRegistryOptions {
  /** Opens a connection, TLS included; calls back once. */
  dial(origin: string, done: (error: Error | null, socket: Socket | null) => void): void;
  /** Reports to the control plane. Rejects when it cannot be reached. */
  reportContacts(contacts: IOriginContact[]): Promise<unknown>;
  /** Whether the event loop stalled at any time since `ms` (`performance.now()`). */
  hasStalledSince(ms: number): boolean;
  readonly log: Logger;
  /** Monotonic, ms. */
  readonly nowMs?: () => number;
  readonly random?: () => number;
}

const PROBE_INTERVAL_MS = 1_000;
const PROBE_JITTER = 0.5;
const REPORT_INTERVAL_MS = 5_000;
/** Contacts older than this are not reported. */
const CONTACT_AGE_MS_MAX = 30_000;

export class ConnectBreakerRegistry {
  readonly #options: ConnectBreakerRegistryOptions;
  readonly #nowMs: () => number;
  readonly #random: () => number;
  readonly #log: Logger;
  /** By origin; bounded by the origins of built-in providers. */
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

  /** Whether calls to the origin are rejected. The first query of an origin creates its breaker. */
  isOpen(origin: string): boolean {
    const breaker = this.#breakers.get(origin);
    if (breaker !== undefined) return breaker.isOpen;
    this.#breakers.set(origin, new ConnectBreaker());
    return false;
  }

  /** Number of open breakers, for metrics. */
  get openCount(): number {
    return this.#probeTimers.size;
  }

  /**
   * Records the end of a connect. `startedMs`: `performance.now()` at its start. `local`: it failed for lack of a local
   * resource, such as file descriptors, which says nothing about the origin.
   */
  onDialed(origin: string, startedMs: number, failure: { readonly local: boolean } | null): void {
    const breaker = this.#breakers.get(origin);
    if (breaker === undefined) return;
    if (failure === null) this.#recordSuccess(origin, breaker);
    else if (!failure.local && !this.#options.hasStalledSince(startedMs) && breaker.recordFailure(this.#nowMs())) {
      this.#log.warn({ origin }, 'cannot connect to the provider: rejecting its calls until a connect succeeds');
      this.#scheduleProbe(origin);
      this.#reportContacts();
    }
  }

  /** The origin has answered a call, with any status. */
  onAnswered(origin: string): void {
    const breaker = this.#breakers.get(origin);
    if (breaker !== undefined) this.#recordSuccess(origin, breaker);
  }

  #recordSuccess(origin: string, breaker: ConnectBreaker): void {
    if (!breaker.recordSuccess(this.#nowMs())) return;
    clearTimeout(this.#probeTimers.get(origin));
    this.#probeTimers.delete(origin);
    this.#log.info({ origin }, 'connected to the provider again: its calls pass');
    this.#reportContacts();
  }

  /** Schedules a dial. Its result arrives through {@link onDialed}, like that of any connect. */
  #scheduleProbe(origin: string): void {
    const waitMs = PROBE_INTERVAL_MS * (1 - PROBE_JITTER / 2 + PROBE_JITTER * this.#random());
    const probe = setTimeout(() => {
      this.#options.dial(origin, (_error, socket) => {
        socket?.destroy();
        // Another timer is set if the breaker has closed and opened again meanwhile.
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
      this.#log.debug({ err: error }, 'reporting contacts with providers failed'); // the next report contains the same contacts
    });
  }
}
