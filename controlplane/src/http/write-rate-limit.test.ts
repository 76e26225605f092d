import Fastify from 'fastify';
import { afterEach, expect, test, vi } from 'vitest';
import { TooManyAttempts } from '../domain/errors.js';
import { addWriteRateLimit, WriteRateLimiter } from './write-rate-limit.js';

afterEach(() => void vi.useRealTimers());

const MIB = 1_048_576;

/** Returns how many requests with this body size pass at the same time. */
function countPassedRequests(
  limiter: WriteRateLimiter,
  orgId: string,
  bodyBytes: number,
  nowMs: number,
  actor = 'one',
): number {
  for (let n = 0; ; n++) {
    try {
      limiter.consume(orgId, actor, bodyBytes, nowMs);
    } catch (error) {
      expect(error).toBeInstanceOf(TooManyAttempts);
      return n;
    }
  }
}

test('one member can send 16,384 small requests or 31 of one megabyte at once, independent of other organizations', () => {
  const limiter = new WriteRateLimiter();
  expect(countPassedRequests(limiter, 'a', 0, 0)).toBe(16_384);
  expect(countPassedRequests(limiter, 'b', MIB, 0)).toBe(31);
});

test('refills 16 small requests per second, and completely within 1,024 seconds', () => {
  const limiter = new WriteRateLimiter();
  countPassedRequests(limiter, 'a', 0, 0);
  expect(countPassedRequests(limiter, 'a', 0, 1_000)).toBe(16);
  expect(countPassedRequests(limiter, 'a', 0, 1_000)).toBe(0);
  expect(countPassedRequests(limiter, 'a', 0, 1_025_000)).toBe(16_384);
  expect(countPassedRequests(limiter, 'a', 0, 9_000_000)).toBe(16_384);
});

test('a member who writes without pause leaves budget for the other members', () => {
  const limiter = new WriteRateLimiter();
  for (let nowMs = 0; nowMs < 3_600_000; nowMs += 1_000) {
    countPassedRequests(limiter, 'a', 0, nowMs, 'viewer');
    // Less than the refill of that time.
    if (nowMs % 10_000 === 0) expect(() => limiter.consume('a', 'owner', 0, nowMs)).not.toThrow();
  }
  expect(countPassedRequests(limiter, 'a', 0, 3_600_000, 'another owner')).toBeGreaterThan(3_000);
});

test('a rejected request consumes nothing and gets the time after which it passes', () => {
  const limiter = new WriteRateLimiter();
  countPassedRequests(limiter, 'a', 0, 0);
  const rejection = (() => {
    try {
      limiter.consume('a', 'one', MIB, 0);
    } catch (error) {
      return error as TooManyAttempts;
    }
    throw new Error('the request passed');
  })();
  expect(rejection.retryAfterSeconds).toBe(33);
  expect(() => limiter.consume('a', 'one', MIB, 32_000)).toThrow();
  expect(() => limiter.consume('a', 'one', MIB, 33_000)).not.toThrow();
});

test('retryAfterSeconds of a member with little usage depends on the allowance that others left', () => {
  const limiter = new WriteRateLimiter();
  countPassedRequests(limiter, 'a', 0, 0, 'viewer');
  countPassedRequests(limiter, 'a', 0, 0, 'member');
  countPassedRequests(limiter, 'a', MIB, 0, 'owner');
  const tryConsume = (nowMs: number): TooManyAttempts | null => {
    try {
      limiter.consume('a', 'owner', MIB, nowMs);
      return null;
    } catch (error) {
      return error as TooManyAttempts;
    }
  };
  const waitS = tryConsume(0)!.retryAfterSeconds;
  expect(waitS).toBeGreaterThan(1);
  expect(tryConsume((waitS - 1) * 1_000)?.retryAfterSeconds).toBe(1);
  expect(tryConsume(waitS * 1_000)).toBeNull();
});

test('a clock that is set back rejects no request', async () => {
  const app = Fastify();
  app.decorateRequest('tenant', null);
  app.addHook('onRequest', async (request) => {
    request.tenant = { orgId: 'a', callerId: 'one' };
  });
  addWriteRateLimit(app);
  app.post('/', { config: { access: 'admin' } }, async () => 'done');
  const write = async (): Promise<number> => (await app.inject({ method: 'POST', url: '/' })).statusCode;
  vi.useFakeTimers({ toFake: ['Date'] });
  expect(await write()).toBe(200);
  vi.setSystemTime(Date.now() - 3_600_000);
  expect(await write()).toBe(200);
});
