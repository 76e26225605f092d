/**
 * Collects the requests of an organization while its previous batch is in the database, so that many requests share the
 * round trips, the locks and the commit of one transaction. A request that comes alone starts at once. A batch has requests
 * of one organization only: a slow or failing one delays no other organization.
 */
import { isDatabaseUnavailable } from '../db/postgres-client.js';
import { TooManyAttempts } from '../domain/errors.js';

/** Returns a result for each request, in order; an error concerns that request only. Throws when nothing was changed. */
type HandleBatch<Request, Result> = (
  orgId: string,
  requests: readonly Request[],
) => Promise<readonly (Result | Error)[]>;

interface Waiting<Request, Result> {
  readonly request: Request;
  readonly sinceMs: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

const BATCH_MAX = 64;
/** Data planes wait no longer, so the caller of an older request has its response. */
const WAIT_MS_MAX = 5_000;

export class OrganizationBatches<Request, Result> {
  readonly #handle: HandleBatch<Request, Result>;
  /** Has an entry for each organization with a batch in the database. */
  readonly #waiting = new Map<string, Waiting<Request, Result>[]>();

  constructor(handle: HandleBatch<Request, Result>) {
    this.#handle = handle;
  }

  /** The caller bounds the number of requests of an organization. */
  add(orgId: string, request: Request): Promise<Result> {
    return new Promise((resolve, reject) => {
      const one = { request, sinceMs: performance.now(), resolve, reject };
      const waiting = this.#waiting.get(orgId);
      if (waiting !== undefined) {
        waiting.push(one);
        return;
      }
      this.#waiting.set(orgId, [one]);
      setImmediate(() => void this.#runAll(orgId)); // with everything that arrives in this event-loop tick
    });
  }

  async #runAll(orgId: string): Promise<void> {
    const waiting = this.#waiting.get(orgId)!;
    while (waiting.length > 0) await this.#run(orgId, takeInTime(waiting.splice(0, BATCH_MAX)));
    this.#waiting.delete(orgId);
  }

  /** Never rejects. After a failure that may concern one of several requests, each is handled alone. */
  async #run(orgId: string, batch: readonly Waiting<Request, Result>[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      const results = await this.#handle(
        orgId,
        batch.map(({ request }) => request),
      );
      for (const [i, { resolve, reject }] of batch.entries()) {
        const result = results[i]!;
        if (result instanceof Error) reject(result);
        else resolve(result);
      }
    } catch (error) {
      if (batch.length === 1 || isDatabaseUnavailable(error)) for (const { reject } of batch) reject(error);
      else for (const one of batch) await this.#run(orgId, [one]);
    }
  }
}

function takeInTime<Request, Result>(batch: readonly Waiting<Request, Result>[]): Waiting<Request, Result>[] {
  const sinceMs = performance.now() - WAIT_MS_MAX;
  return batch.filter((one) => {
    if (one.sinceMs >= sinceMs) return true;
    one.reject(new TooManyAttempts('too many calls about runs of the organization wait. Retry in 1 s.', 1));
    return false;
  });
}
