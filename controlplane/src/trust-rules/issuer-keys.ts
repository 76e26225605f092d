/**
 * The keys of a rule's issuer. They are read through the egress guard and cached in the rule, for all control planes
 * together: at most one request a minute for a rule, whatever tokens arrive. While the issuer does not respond, keys that
 * were read serve for a day.
 */
import type { Dialer } from '@acg/base/dialer/dialer';
import { FairSemaphore } from '@acg/base/fairness/fair-semaphore';
import type { Sql } from '../db/postgres-client.js';
import { createQueueFullError } from '../domain/errors.js';
import { fetchIssuerKeys, ProviderFailure } from '../sso/issuer-requests.js';
import { type JwkSet, parseServedKeys } from '../sso/jwk-set.js';
import * as store from './store.js';

/** Keys that an issuer has withdrawn are accepted this long. */
const FRESH_MS = 300_000;
const USABLE_MS = 86_400_000;
const REQUEST_INTERVAL_S = 60;
const RUNNING_MAX = 8;
const WAITING_MAX = 64;
const FAILURE_CHARS_MAX = 200;

export class IssuerKeys {
  readonly #semaphore = new FairSemaphore({
    runningMax: RUNNING_MAX,
    waitingMax: WAITING_MAX,
    createError: () => createQueueFullError('requests for keys of issuers'),
    fraction: 1 / 2,
  });
  /** By rule: a request for its keys that is under way in this process. */
  readonly #pending = new Map<string, Promise<JwkSet | null>>();

  constructor(
    readonly sql: Sql,
    readonly dialer: Dialer,
  ) {}

  /** For a rule that is not stored yet. Throws {@link ProviderFailure}. */
  async read(orgId: string, issuer: string): Promise<JwkSet> {
    const served = await this.#semaphore.run(orgId, () => fetchIssuerKeys(this.dialer, { orgId, issuer }));
    try {
      return parseServedKeys(served);
    } catch (error) {
      throw new ProviderFailure((error as Error).message);
    }
  }

  /** Null: no usable keys, because the issuer has not responded for a day. */
  async load(rule: store.RuleWithKeys, nowMs: number): Promise<JwkSet | null> {
    const { jwks, keysUploaded, keysReadAt } = rule;
    if (keysUploaded) return jwks;
    const ageMs = keysReadAt === null ? Number.POSITIVE_INFINITY : nowMs - keysReadAt.getTime();
    if (ageMs < FRESH_MS) return jwks;
    return (await this.refresh(rule)) ?? (ageMs < USABLE_MS ? jwks : null);
  }

  /** Null: the keys were requested less than a minute ago, are uploaded, or the issuer did not answer with keys. */
  refresh(rule: store.RuleWithKeys): Promise<JwkSet | null> {
    if (rule.keysUploaded) return Promise.resolve(null);
    const pending = this.#pending.get(rule.id) ?? this.#requestAndStore(rule);
    this.#pending.set(rule.id, pending);
    return pending.finally(() => {
      if (this.#pending.get(rule.id) === pending) this.#pending.delete(rule.id);
    });
  }

  async #requestAndStore({ id, orgId, issuer }: store.RuleWithKeys): Promise<JwkSet | null> {
    if (!(await store.claimKeyRequest(this.sql, id, REQUEST_INTERVAL_S))) return null;
    try {
      const keys = await this.read(orgId, issuer);
      await store.storeReadKeys(this.sql, id, keys);
      return keys;
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error;
      await store.storeReadKeys(this.sql, id, error.message.slice(0, FAILURE_CHARS_MAX));
      return null;
    }
  }
}
