/**
 * Reads the JSON reports of a provider with an admin key. Throws {@link ReportProblem}, whose text a user reads: a key
 * without the needed scope, a rate limit that does not end, a page that is cut. A partial report is never returned.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Dispatcher, request } from 'undici';

const TIMEOUT_MS = 30_000;
const MIB = 1_048_576;
const PAGES_MAX = 1_000;
const ATTEMPTS = 3;
const RETRY_AFTER_MAX_S = 60;
const RETRY_AFTER_S = 5;

/** The provider's report could not be read. The message never holds the key. */
export class ReportProblem extends Error {
  override readonly name = 'ReportProblem';
}

export type Json = Readonly<Record<string, unknown>>;

/** Bounds of the memory of a check. */
interface ReportBytes {
  readonly pageMax: number;
  /** Of all pages of one report together. */
  readonly reportMax: number;
}
/** A page of 168 hours with 500 keys and models each is about 30 MB. */
export const PROVIDER_REPORT_BYTES: ReportBytes = { pageMax: 64 * MIB, reportMax: 256 * MIB };
/** The server of a custom provider is the tenant's, and a page is one day of one key. */
export const TENANT_REPORT_BYTES: ReportBytes = { pageMax: 4 * MIB, reportMax: 32 * MIB };

export class ReportClient {
  #bytes = 0;

  constructor(
    readonly dispatcher: Dispatcher,
    /** Origin and base path of the provider's API, without a trailing slash. */
    readonly baseUrl: string,
    readonly headers: Readonly<Record<string, string>>,
    /** Waits before a retry; aborts when the control plane stops. */
    readonly signal: AbortSignal,
    readonly bytes: ReportBytes = PROVIDER_REPORT_BYTES,
  ) {}

  /** `path` begins with `/`. Retries rate limits and server errors. */
  async get(path: string, query: ReadonlyArray<readonly [string, string]> = []): Promise<Json> {
    const url = `${this.baseUrl}${path}${query.length === 0 ? '' : `?${new URLSearchParams(query.map(([name, value]): [string, string] => [name, value]))}`}`;
    for (let attempt = 1; ; attempt++) {
      const { status, retryAfterS, text } = await this.#send(url, path);
      if (status === 200) return parsePage(path, text);
      if (attempt < ATTEMPTS && (status === 429 || status >= 500)) {
        await delay(retryAfterS * 1_000, undefined, { signal: this.signal });
        continue;
      }
      throw new ReportProblem(describeStatus(path, status));
    }
  }

  /**
   * Reads all pages that follow `next_page`. A bucket that occurs twice would be counted twice: it is a problem.
   * `startOf` returns its start, Unix ms.
   */
  async pages(
    path: string,
    query: ReadonlyArray<readonly [string, string]>,
    startOf: (bucket: Json) => number,
  ): Promise<readonly Json[]> {
    const buckets: Json[] = [];
    const starts = new Set<number>();
    const cursors = new PageCursors(path);
    for (let page: string | null = null, read = 0; read < PAGES_MAX; read++) {
      const body: Json = await this.get(path, page === null ? query : [...query, ['page', page]]);
      for (const bucket of listOf(body, 'data', path)) {
        const start = startOf(bucket);
        if (starts.has(start) && Number.isSafeInteger(start))
          throw new ReportProblem(
            `${path} answered the bucket of ${new Date(start).toISOString()} twice: check again later`,
          );
        starts.add(start);
        buckets.push(bucket);
      }
      if (body.has_more !== true) return buckets;
      page = cursors.next(body.next_page);
    }
    throw new ReportProblem(`${path} has more than ${PAGES_MAX} pages`);
  }

  async #send(url: string, path: string) {
    try {
      const signal = AbortSignal.any([this.signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const { dispatcher, headers } = this;
      const answer = await request(url, {
        dispatcher,
        headers: { 'user-agent': 'agent-credential-gateway', ...headers },
        signal,
      });
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of answer.body as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        this.#bytes += chunk.length;
        const { pageMax, reportMax } = this.bytes;
        if (bytes > pageMax) throw new ReportProblem(`${path} answers more than ${pageMax / MIB} MiB a page`);
        if (this.#bytes > reportMax)
          throw new ReportProblem(`The report has more than ${reportMax / MIB} MiB, reached at ${path}`);
        chunks.push(chunk);
      }
      const given = Number(answer.headers['retry-after']);
      const retryAfterS = Number.isFinite(given) && given >= 0 ? Math.min(given, RETRY_AFTER_MAX_S) : RETRY_AFTER_S;
      return { status: answer.statusCode, retryAfterS, text: Buffer.concat(chunks).toString('utf8') };
    } catch (error) {
      if (error instanceof ReportProblem) throw error;
      throw new ReportProblem(`${path} could not be read completely (${(error as Error).name}): check again later`);
    }
  }
}

/** The cursors of one list. One that occurs again would lead through the same pages for ever. */
export class PageCursors {
  readonly #seen = new Set<string>();

  constructor(readonly path: string) {}

  /** The cursor of the next page of a list that has more. */
  next(cursor: unknown): string {
    if (typeof cursor !== 'string' || cursor === '' || this.#seen.has(cursor))
      throw new ReportProblem(`${this.path} says has_more without a next page: check again later`);
    this.#seen.add(cursor);
    return cursor;
  }
}

function parsePage(path: string, text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  } catch {
    // The same problem as another kind of value.
  }
  throw new ReportProblem(`${path} answered half a page or no JSON: check again later`);
}

function describeStatus(path: string, status: number): string {
  if (status === 401)
    return `The provider rejects the admin key (401 at ${path}). Create a new one and store it again.`;
  if (status === 403)
    return `The admin key lacks a scope: 403 at ${path}. Create a key that may read usage, costs and keys.`;
  if (status === 404) return `The provider has no ${path} (404): is the key an admin key?`;
  if (status === 429) return `The provider limits its reports (429 at ${path}). The next check tries again.`;
  return `The provider answered ${status} at ${path}. The next check tries again.`;
}

/**
 * The list of objects in a field of a page. Throws {@link ReportProblem} when it is missing: half a page looks like that.
 */
export function listOf(body: Json, field: string, path: string): readonly Json[] {
  const list = body[field];
  if (!Array.isArray(list) || !list.every((row) => typeof row === 'object' && row !== null))
    throw new ReportProblem(`${path} answered without ${field}: check again later`);
  return list as Json[];
}

/** A count of a report; a missing one is 0. */
export function countOf(row: Json, field: string): number {
  const value = row[field] ?? 0;
  const count = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0)
    throw new ReportProblem(
      `The report has a count that is no whole number, in ${field}. Nothing was compared: check again later.`,
    );
  return count;
}

export const textOf = (row: Json, field: string): string =>
  typeof row[field] === 'string' ? (row[field] as string) : '';

/** OpenAI writes zero as `0E-6176`. */
const DECIMAL = /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Nano-dollars of an amount in units of `unitNanos` nano-dollars each; a number or a decimal text. An amount that cannot
 * be read is a problem: as 0 it would pass for a difference.
 */
export function nanosOf(amount: unknown, unitNanos: number): number {
  const value = typeof amount === 'string' && DECIMAL.test(amount) ? Number(amount) : amount;
  const nanos = typeof value === 'number' ? Math.round(value * unitNanos) : Number.NaN;
  if (!Number.isSafeInteger(nanos))
    throw new ReportProblem(
      'The report has an amount that is no number up to 9 007 199 USD. Nothing was compared: check again later.',
    );
  return nanos;
}
