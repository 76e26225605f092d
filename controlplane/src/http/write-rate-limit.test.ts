import Fastify from 'fastify';
import { afterEach, expect, test, vi } from 'vitest';
import { TooManyAttempts } from '../domain/errors.js';
import type { Actor } from './route-access.js';
import { addWriteRateLimit, WriteRateLimiter } from './write-rate-limit.js';

afterEach(() => void vi.useRealTimers());

const MIB = 1_048_576;

/** Calls with such a body that are let pass one after the other at the same time. */
function passed(allowance: WriteRateLimiter, orgId: string, bodyBytes: number, nowMs: number, actor = 'one'): number {
  for (let n = 0; ; n++) {
    try {
      allowance.consume(orgId, actor, bodyBytes, nowMs);
    } catch (error) {
      expect(error).toBeInstanceOf(TooManyAttempts);
      return n;
    }
  }
}

test('writes: a member alone has 16 000 small calls or 31 of a megabyte at once, whatever others have taken', () => {
  const allowance = new WriteRateLimiter();
  expect(passed(allowance, 'a', 0, 0)).toBe(16_384);
  expect(passed(allowance, 'b', MIB, 0)).toBe(31);
});

test('writes: 16 more small calls come with each second, and in 1024 seconds all of them', () => {
  const allowance = new WriteRateLimiter();
  passed(allowance, 'a', 0, 0);
  expect(passed(allowance, 'a', 0, 1_000)).toBe(16);
  expect(passed(allowance, 'a', 0, 1_000)).toBe(0);
  expect(passed(allowance, 'a', 0, 1_025_000)).toBe(16_384);
  expect(passed(allowance, 'a', 0, 9_000_000)).toBe(16_384);
});

test('writes: what one member takes without end leaves the others something, for as long as it goes on', () => {
  const allowance = new WriteRateLimiter();
  for (let nowMs = 0; nowMs < 3_600_000; nowMs += 1_000) {
    passed(allowance, 'a', 0, nowMs, 'viewer');
    // Less than what comes back in that time.
    if (nowMs % 10_000 === 0) expect(() => allowance.consume('a', 'owner', 0, nowMs)).not.toThrow();
  }
  expect(passed(allowance, 'a', 0, 3_600_000, 'another owner')).toBeGreaterThan(3_000);
});

test('writes: a refused call takes nothing, and is told when it passes', () => {
  const allowance = new WriteRateLimiter();
  passed(allowance, 'a', 0, 0);
  const refusal = (() => {
    try {
      allowance.consume('a', 'one', MIB, 0);
    } catch (error) {
      return error as TooManyAttempts;
    }
    throw new Error('it passed');
  })();
  expect(refusal.retryAfterSeconds).toBe(33);
  expect(() => allowance.consume('a', 'one', MIB, 32_000)).toThrow();
  expect(() => allowance.consume('a', 'one', MIB, 33_000)).not.toThrow();
});

test('writes: one that has taken little itself is told of the time after which what the others left is enough', () => {
  const allowance = new WriteRateLimiter();
  passed(allowance, 'a', 0, 0, 'viewer');
  passed(allowance, 'a', 0, 0, 'member');
  passed(allowance, 'a', MIB, 0, 'owner');
  const refusal = (nowMs: number): TooManyAttempts | null => {
    try {
      allowance.consume('a', 'owner', MIB, nowMs);
      return null;
    } catch (error) {
      return error as TooManyAttempts;
    }
  };
  const waitS = refusal(0)!.retryAfterSeconds;
  expect(waitS).toBeGreaterThan(1);
  expect(refusal((waitS - 1) * 1_000)?.retryAfterSeconds).toBe(1);
  expect(refusal(waitS * 1_000)).toBeNull();
});

test('writes: a clock that is set back refuses nobody', async () => {
  const app = Fastify();
  app.decorateRequest('actor');
  app.addHook('onRequest', async (request) => {
    request.actor = { orgId: 'a', userId: 'one', token: null } as Actor;
  });
  addWriteRateLimit(app);
  app.post('/', { config: { access: 'admin' } }, async () => 'done');
  const write = async (): Promise<number> => (await app.inject({ method: 'POST', url: '/' })).statusCode;
  vi.useFakeTimers({ toFake: ['Date'] });
  expect(await write()).toBe(200);
  vi.setSystemTime(Date.now() - 3_600_000);
  expect(await write()).toBe(200);
});
