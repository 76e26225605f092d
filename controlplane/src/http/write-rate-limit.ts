/**
 * Rate limit for writes to the management API, per organization and control plane. What a request writes stays: its
 * rows, its audit entry, its events, its stored response. So each write consumes its body size plus a fixed amount from
 * a token bucket; without it one tenant could fill the disk within a day. A single member or management token cannot
 * empty the bucket: a viewer's program must not keep an owner from pausing an agent.
 *
 * Deletions consume nothing: there cannot be more of them than of creations, and a key must be revocable while a
 * program of the same organization misbehaves. Neither do account requests, which have their own limits.
 */
import { laneLimit } from '@acg/base/fairness/dynamic-share';
import { TokenBucket, type TokenRate } from '@acg/base/fairness/token-bucket';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { TooManyAttempts } from '../domain/errors.js';

const RATE: TokenRate = { capacity: 40 * 1024 * 1024, perSecond: 32 * 1024 };
/** Part that an actor may have of what it has taken and what is left: alone 32 MiB or 16,384 small requests. */
const ACTOR_FRACTION = 4 / 5;
const CALL_BYTES = 2 * 1024;
const ORGS_MAX = 10_000;
const ACTORS_MAX = 50_000;
const FREE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);

export class WriteRateLimiter {
  readonly #orgBuckets = new LRUCache<string, TokenBucket>({ max: ORGS_MAX });
  /** Organization and actor → the bucket as if only this actor had consumed. */
  readonly #actorBuckets = new LRUCache<string, TokenBucket>({ max: ACTORS_MAX });

  /** Throws {@link TooManyAttempts}, and consumes nothing, if the bucket holds too little. */
  consume(orgId: string, actorId: string, bodyBytes: number, nowMs: number): void {
    const orgBucket = bucketOf(this.#orgBuckets, orgId, nowMs);
    const actorBucket = bucketOf(this.#actorBuckets, `${orgId} ${actorId}`, nowMs);
    const bytes = CALL_BYTES + bodyBytes;
    const taken = actorBucket.used(nowMs);
    const left = orgBucket.available(nowMs);
    const excess = taken + bytes - laneLimit(ACTOR_FRACTION, taken + left);
    if (excess > 0) {
      // The refill first shrinks what the actor has taken; after that it grows what is left.
      const waitS = Math.ceil(Math.max(excess, bytes / ACTOR_FRACTION - left) / RATE.perSecond);
      throw new TooManyAttempts(`the organization sends too many changes. Retry in ${waitS} seconds.`, waitS);
    }
    orgBucket.take(bytes, nowMs);
    actorBucket.take(bytes, nowMs);
  }
}

function bucketOf(buckets: LRUCache<string, TokenBucket>, key: string, nowMs: number): TokenBucket {
  let bucket = buckets.get(key);
  if (bucket === undefined) {
    bucket = new TokenBucket(RATE, nowMs);
    buckets.set(key, bucket);
  }
  return bucket;
}

export function addWriteRateLimit(app: FastifyInstance): void {
  const limiter = new WriteRateLimiter();
  app.addHook('preHandler', async (request) => {
    const { tenant, routeOptions, method } = request;
    const { access, ownWriteLimit } = routeOptions.config;
    if (tenant === null || access === 'session' || ownWriteLimit === true || FREE_METHODS.has(method)) return;
    limiter.consume(tenant.orgId, tenant.callerId, bodyBytesOf(request), performance.now());
  });
}

const bodyBytesOf = ({ headers, body }: FastifyRequest): number =>
  Number(headers['content-length'] ?? Buffer.byteLength(JSON.stringify(body ?? null)));
