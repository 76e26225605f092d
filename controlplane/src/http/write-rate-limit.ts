/**
 * How much an organization may write through the management API. What a call writes stays: its rows, its entry in the
 * audit trail, its events, what is remembered for its Idempotency-Key. So each call that adds or changes something takes
 * its body, and a fixed part for those rows, from an allowance that grows again with time, in each control plane by
 * itself; without it one tenant fills the disk of all within a day. One member alone, or one management token, leaves the
 * others of the organization some of it: a viewer's program must not keep an owner from pausing an agent.
 *
 * Deletions take nothing: there are no more of them than of what was made, and a key must be revocable while a program of
 * the same organization runs wild. Neither does what concerns the account, which has limits of its own.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { TooManyAttempts } from '../domain/errors.js';

const BUCKET_BYTES = 40 * 1024 * 1024;
/** Of what is left one may have taken so many times as much: alone 32 MiB, 16 000 small calls. */
const ACTOR_SHARE_RATIO = 4;
const REFILL_BYTES_PER_S = 32 * 1024;
const CALL_BYTES = 2 * 1024;
const ORGS_MAX = 10_000;
const ACTORS_MAX = 50_000;
const FREE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);

export class WriteRateLimiter {
  /** Organization → ms of a clock that nobody sets, at which its allowance is whole again. */
  readonly #fullAtMs = new LRUCache<string, number>({ max: ORGS_MAX });
  /** Organization and who acts for it → the same, had nobody else taken anything. */
  readonly #actorFullAtMs = new LRUCache<string, number>({ max: ACTORS_MAX });

  /** Throws {@link TooManyAttempts}, and takes nothing, when there is not enough left. */
  consume(orgId: string, actorId: string, bodyBytes: number, nowMs: number): void {
    const actor = `${orgId} ${actorId}`;
    const costMs = refillMs(CALL_BYTES + bodyBytes);
    const takenMs = costMs + Math.max(0, (this.#fullAtMs.get(orgId) ?? 0) - nowMs);
    const ownMs = costMs + Math.max(0, (this.#actorFullAtMs.get(actor) ?? 0) - nowMs);
    const excessMs = ownMs - ACTOR_SHARE_RATIO * (refillMs(BUCKET_BYTES) - takenMs);
    // While what is left grows, its own part shrinks, until it is nothing.
    const waitMs = Math.max(excessMs / (ACTOR_SHARE_RATIO + 1), (excessMs - (ownMs - costMs)) / ACTOR_SHARE_RATIO);
    if (waitMs > 0) {
      const waitS = Math.ceil(waitMs / 1_000);
      throw new TooManyAttempts(`the organization changes too much at once: try again in ${waitS} seconds`, waitS);
    }
    this.#fullAtMs.set(orgId, nowMs + takenMs);
    this.#actorFullAtMs.set(actor, nowMs + ownMs);
  }
}

export function addWriteRateLimit(app: FastifyInstance): void {
  const allowance = new WriteRateLimiter();
  app.addHook('preHandler', async (request) => {
    const { access = 'public' } = request.routeOptions.config;
    if (access === 'public' || access === 'session' || FREE_METHODS.has(request.method)) return;
    const { orgId, userId, token } = request.actor;
    allowance.consume(orgId, token?.id ?? userId, bodyBytesOf(request), performance.now());
  });
}

/** How long so much takes to grow again. */
const refillMs = (bytes: number): number => (bytes * 1_000) / REFILL_BYTES_PER_S;

const bodyBytesOf = ({ headers, body }: FastifyRequest): number =>
  Number(headers['content-length'] ?? Buffer.byteLength(JSON.stringify(body ?? null)));
