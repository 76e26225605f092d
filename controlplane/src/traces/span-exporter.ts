/**
 * Exports a span of every recorded call to an OTLP collector. Records arrive after the commit and wait in a bounded
 * queue. Spans are dropped and counted when the queue is full, or when the collector rejects them or is unavailable.
 * Ingest never waits for the exporter.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Backoff } from '@acg/base/backoff';
import type { Logger } from '@acg/base/log';
import { noop } from '@acg/base/noop';
import { Agent, request } from 'undici';
import type { UsageEntry } from '../ledger/usage-record-with-shared-dimensions.js';
import type { OtlpSettings } from './otlp-settings.js';
import { type OtlpSpan, stringAttribute, toOtlpSpan } from './otlp-span.js';

type SpanOutcome =
  | 'sent'
  /** The queue was full, or the collector failed in every attempt. */
  | 'dropped'
  /** The collector rejected the spans permanently. */
  | 'rejected'
  /** The caller does not sample its trace. */
  | 'unsampled';

const SCOPE = 'agent-credential-gateway';
const ATTEMPTS_MAX = 3;
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const FIRST_DELAY_MS = 500;
const DELAY_MAX_MS = 10_000;
const STOP_GRACE_MS = 2_000;
/** Maximum length of a response that is read, in bytes; OTLP responses are far shorter. */
const ANSWER_BYTES_MAX = 65_536;

export class SpanExporter {
  readonly #settings: OtlpSettings;
  readonly #version: string;
  readonly #log: Logger;
  readonly #count: (outcome: SpanOutcome, spans: number) => void;
  readonly #agent: Agent;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #stopping = new AbortController();
  #queue: UsageEntry[] = [];
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> | null = null;
  /** State of the last batch. Only changes are logged, not every failure. */
  #isCollectorReachable = true;

  constructor(
    settings: OtlpSettings,
    version: string,
    log: Logger,
    count: (outcome: SpanOutcome, spans: number) => void,
  ) {
    this.#settings = settings;
    this.#version = version;
    this.#log = log;
    this.#count = count;
    this.#agent = new Agent({ connections: 1, pipelining: 1, connect: { timeout: settings.timeoutMs } });
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    for (const [name, value] of settings.headers) headers[name] = value.reveal();
    this.#headers = headers;
  }

  /** Number of spans in the queue. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Enqueues records that were committed for the first time. Returns immediately. */
  enqueue(entries: readonly UsageEntry[]): void {
    const room = Math.max(0, this.#settings.queueMax - this.#queue.length);
    for (let i = 0; i < entries.length && i < room; i++) this.#queue.push(entries[i]!);
    if (entries.length > room) this.#count('dropped', entries.length - room);
    if (this.#queue.length >= this.#settings.batchMax) this.#startFlush();
    else this.#timer ??= setTimeout(() => this.#startFlush(), this.#settings.delayMs).unref();
  }

  /** Exports the queued spans within a short time limit. */
  async stop(): Promise<void> {
    this.#startFlush();
    const grace = setTimeout(() => this.#stopping.abort(), STOP_GRACE_MS);
    await this.#flushing;
    clearTimeout(grace);
    this.#stopping.abort();
    await this.#agent.destroy();
  }

  #startFlush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = null;
      if (this.#queue.length > 0 && !this.#stopping.signal.aborted) this.enqueue([]);
    });
  }

  async #flush(): Promise<void> {
    while (this.#queue.length > 0 && !this.#stopping.signal.aborted) {
      const entries = this.#queue.splice(0, this.#settings.batchMax);
      const spans = entries.map(toOtlpSpan).filter((span) => span !== null);
      if (spans.length < entries.length) this.#count('unsampled', entries.length - spans.length);
      if (spans.length > 0) await this.#exportSpans(spans);
    }
    if (this.#queue.length > 0) this.#count('dropped', this.#queue.splice(0).length);
  }

  async #exportSpans(spans: readonly OtlpSpan[]): Promise<void> {
    const body = JSON.stringify(this.#requestBody(spans));
    const backoff = new Backoff(FIRST_DELAY_MS, DELAY_MAX_MS);
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const answer = await this.#post(body);
      if (answer.kind === 'accepted') {
        this.#onCollectorReached();
        if (answer.rejected > 0) this.#count('rejected', Math.min(answer.rejected, spans.length));
        this.#count('sent', Math.max(0, spans.length - answer.rejected));
        return;
      }
      this.#onExportFailed(answer.reason);
      if (answer.kind === 'rejected') {
        this.#count('rejected', spans.length);
        return;
      }
      if (this.#stopping.signal.aborted) break;
      if (attempt < ATTEMPTS_MAX) {
        const waitMs = Math.max(answer.retryAfterMs, backoff.nextDelayMs());
        await sleep(waitMs, undefined, { signal: this.#stopping.signal }).catch(noop); // rejects when stop() aborts
      }
    }
    this.#count('dropped', spans.length);
  }

  async #post(body: string): Promise<ExportResult> {
    try {
      const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(this.#settings.timeoutMs)]);
      const response = await request(this.#settings.tracesUrl, {
        method: 'POST',
        headers: this.#headers,
        body,
        dispatcher: this.#agent,
        signal,
      });
      const { statusCode } = response;
      if (statusCode >= 200 && statusCode < 300)
        return { kind: 'accepted', rejected: await rejectedSpans(response.body) };
      await response.body.dump({ limit: ANSWER_BYTES_MAX, signal });
      const reason = `the collector responds with ${statusCode}`;
      if (!RETRYABLE.has(statusCode)) return { kind: 'rejected', reason };
      return { kind: 'failed', reason, retryAfterMs: retryAfterMs(response.headers['retry-after']) };
    } catch (error) {
      return { kind: 'failed', reason: (error as Error).message, retryAfterMs: 0 };
    }
  }

  #requestBody(spans: readonly OtlpSpan[]): unknown {
    const { serviceName, resource } = this.#settings;
    const attributes = new Map([...resource, ['service.name', serviceName], ['service.version', this.#version]]);
    return {
      resourceSpans: [
        {
          resource: { attributes: [...attributes].map(([key, value]) => stringAttribute(key, value)) },
          scopeSpans: [{ scope: { name: SCOPE, version: this.#version }, spans }],
        },
      ],
    };
  }

  #onCollectorReached(): void {
    if (!this.#isCollectorReachable) this.#log.info('the trace collector accepts spans again');
    this.#isCollectorReachable = true;
  }

  #onExportFailed(reason: string): void {
    if (this.#isCollectorReachable)
      this.#log.warn({ reason }, 'the trace collector does not accept spans: they are dropped');
    this.#isCollectorReachable = false;
  }
}

type ExportResult =
  | { readonly kind: 'accepted'; readonly rejected: number }
  | { readonly kind: 'rejected'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs: number };

/** Reads `{"partialSuccess":{"rejectedSpans":"3"}}`; returns 0 for an unreadable response. */
async function rejectedSpans(body: AsyncIterable<Buffer>): Promise<number> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) return 0; // leaving the loop closes the connection
    chunks.push(chunk);
  }
  try {
    const answer = JSON.parse(Buffer.concat(chunks).toString()) as { partialSuccess?: { rejectedSpans?: unknown } };
    const rejected = Number(answer?.partialSuccess?.rejectedSpans ?? 0);
    return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0;
  } catch {
    return 0;
  }
}

/** Accepts seconds only; a date counts as absent. */
function retryAfterMs(header: string | string[] | undefined): number {
  const seconds = typeof header === 'string' && /^\d{1,5}$/.test(header) ? Number(header) : 0;
  return Math.min(seconds * 1_000, DELAY_MAX_MS);
}
