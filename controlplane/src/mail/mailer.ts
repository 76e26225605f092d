/**
 * Sends mails in the background: a request never waits for a mail and never fails because of one. The queue is bounded
 * and only in memory, because mails hold tokens that must not be stored in clear text. After a crash, users must
 * request lost mails again. A failed mail is retried after each of `retryDelaysMs`, then dropped and logged without its
 * text.
 */

import type { Logger } from '@acg/base/log';
import { waitAtMost } from '@acg/base/wait-at-most';

export interface Mail {
  readonly to: string;
  /** For the log, e.g. `reset`, `verify`, `invitation`. */
  readonly purpose: string;
  readonly subject: string;
  readonly text: string;
}

export interface MailTransport {
  /** Rejects when the server did not accept the mail. */
  send(mail: Mail): Promise<void>;
  close(): void;
}

const QUEUED_MAILS_MAX = 1_000;
const CONCURRENT_SENDS_MAX = 4;
const MAIL_RETRY_DELAYS_MS: readonly number[] = [1_000, 10_000, 60_000, 300_000, 1_800_000];

interface QueuedMail {
  readonly mail: Mail;
  tries: number;
}

export class Mailer {
  readonly #ready: QueuedMail[] = [];
  readonly #retryTimers = new Map<NodeJS.Timeout, QueuedMail>();
  readonly #sending = new Set<Promise<void>>();
  #stopped = false;

  constructor(
    readonly transport: MailTransport,
    readonly log: Logger,
    readonly retryDelaysMs: readonly number[] = MAIL_RETRY_DELAYS_MS,
  ) {}

  /** Mails not sent yet: queued, waiting for a retry, or being sent. */
  get pending(): number {
    return this.#ready.length + this.#retryTimers.size + this.#sending.size;
  }

  /** Never throws. When the queue is full or closed, the mail is dropped and an error is logged. */
  enqueue(mail: Mail): void {
    if (this.#stopped || this.pending >= QUEUED_MAILS_MAX) {
      this.log.error({ purpose: mail.purpose, queued: this.pending }, 'mail dropped: the queue is full or closed');
      return;
    }
    this.#ready.push({ mail, tries: 0 });
    this.#sendReady();
  }

  /**
   * Sends queued mails until the deadline, in ms, and logs how many were not sent. Drops mails that wait for a retry.
   */
  async stop(deadlineMs: number): Promise<void> {
    const drained = (async () => {
      while (this.#sending.size > 0) await Promise.race(this.#sending);
    })();
    await waitAtMost(drained, deadlineMs);
    this.#stopped = true;
    if (this.pending > 0) this.log.warn({ unsent: this.pending }, 'mails not sent before shutdown');
    for (const timer of this.#retryTimers.keys()) clearTimeout(timer);
    this.#retryTimers.clear();
    this.#ready.length = 0;
    this.transport.close();
  }

  #sendReady(): void {
    while (this.#sending.size < CONCURRENT_SENDS_MAX) {
      const next = this.#ready.shift();
      if (next === undefined) return;
      const sending: Promise<void> = this.#send(next).finally(() => {
        this.#sending.delete(sending);
        this.#sendReady();
      });
      this.#sending.add(sending);
    }
  }

  async #send(queued: QueuedMail): Promise<void> {
    const { mail } = queued;
    try {
      await this.transport.send(mail);
    } catch (error) {
      const delayMs = this.#stopped ? undefined : this.retryDelaysMs[queued.tries++];
      // Logs neither the text of the error (servers quote addresses and content) nor that of the mail.
      const { code, responseCode } = error as { code?: string; responseCode?: number };
      this.log.warn({ purpose: mail.purpose, code, responseCode, tries: queued.tries, delayMs }, 'mail not sent');
      if (delayMs === undefined) return;
      const timer = setTimeout(() => {
        this.#retryTimers.delete(timer);
        this.#ready.push(queued);
        this.#sendReady();
      }, delayMs);
      timer.unref();
      this.#retryTimers.set(timer, queued);
    }
  }
}
