/**
 * Rate limit for writes to the management API, per organization and control plane. What a request writes stays: its
 * rows, its audit entry, its events, its stored response. So each write consumes its body size plus a fixed amount from
 * a token bucket; without it one tenant could fill the disk within a day. A single member or management token cannot
 * empty the bucket: a viewer's program must not keep an owner from pausing an agent.
 *
 * Deletions consume nothing: there cannot be more of them than of creations, and a key must be revocable while a
 * program of the same organization misbehaves. Neither do account requests, which have their own limits.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { TooManyAttempts } from '../domain/errors.js';

const BUCKET_BYTES = 40 * 1024 * 1024;
/**
 * An actor may have taken at most this many times what is left in the bucket: alone 32 MiB or 16,384 small requests.
 */
const ACTOR_SHARE_RATIO = 4;
const REFILL_BYTES_PER_S = 32 * 1024;
const CALL_BYTES = 2 * 1024;
const ORGS_MAX = 10_000;
const ACTORS_MAX = 50_000;
const FREE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);

export class WriteRateLimiter {
  /** Organization → time at which its bucket is full again, ms of the monotonic clock. */
  readonly #fullAtMs = new LRUCache<string, number>({ max: ORGS_MAX });
  /** Organization and actor → the same time, as if only this actor had consumed. */
  readonly #actorFullAtMs = new LRUCache<string, number>({ max: ACTORS_MAX });

  /** Throws {@link TooManyAttempts}, and consumes nothing, if the bucket holds too little. */
  consume(orgId: string, actorId: string, bodyBytes: number, nowMs: number): void {
    const actor = `${orgId} ${actorId}`;
    const costMs = refillMs(CALL_BYTES + bodyBytes);
    const takenMs = costMs + Math.max(0, (this.#fullAtMs.get(orgId) ?? 0) - nowMs);
    const ownMs = costMs + Math.max(0, (this.#actorFullAtMs.get(actor) ?? 0) - nowMs);
    const excessMs = ownMs - ACTOR_SHARE_RATIO * (refillMs(BUCKET_BYTES) - takenMs);
    // While the bucket refills, the actor's own consumption shrinks, until it is 0.
    const waitMs = Math.max(excessMs / (ACTOR_SHARE_RATIO + 1), (excessMs - (ownMs - costMs)) / ACTOR_SHARE_RATIO);
    if (waitMs > 0) {
      const waitS = Math.ceil(waitMs / 1_000);
      throw new TooManyAttempts(`the organization sends too many changes. Retry in ${waitS} seconds.`, waitS);
    }
    this.#fullAtMs.set(orgId, nowMs + takenMs);
    this.#actorFullAtMs.set(actor, nowMs + ownMs);
  }
}

export function addWriteRateLimit(app: FastifyInstance): void {
  const limiter = new WriteRateLimiter();
  app.addHook('preHandler', async (request) => {
    const { access = 'public' } = request.routeOptions.config;
    if (access === 'public' || access === 'session' || FREE_METHODS.has(request.method)) return;
    const { orgId, userId, token } = request.actor;
    limiter.consume(orgId, token?.id ?? userId, bodyBytesOf(request), performance.now());
  });
}

/** Time in which this many bytes are refilled, ms. */
const refillMs = (bytes: number): number => (bytes * 1_000) / REFILL_BYTES_PER_S;

const bodyBytesOf = ({ headers, body }: FastifyRequest): number =>
  Number(headers['content-length'] ?? Buffer.byteLength(JSON.stringify(body ?? null)));
