/** Random arrivals at several data planes for many windows: no window at any position contains more than the limit. */
import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { admit, CountingMetrics, createAdmissionRequest, silentLogger } from './counters-fixture.js';

const WINDOW_MS = 150;
const LIMIT = 12;
const PLANES = 3;

let server: RedisServer;
let planes: RedisCounters[];
beforeAll(async () => {
  server = await RedisServer.start();
  const windows = { minute: WINDOW_MS, day: 86_400_000 };
  const options = { urls: [server.url], connectionName: 'acg-test', tlsCa: null, timeoutMs: 10_000, windows };
  planes = Array.from({ length: PLANES }, () => new RedisCounters(options, silentLogger, new CountingMetrics()));
  await Promise.all(planes.map((plane) => plane.waitForStoreAndCheckEviction()));
});
afterAll(async () => {
  await Promise.all(planes.map((plane) => plane.close()));
  await server.stop();
});

/** The time of an admission: after its request and before its response. */
interface AdmissionInterval {
  readonly askedMs: number;
  readonly answeredMs: number;
}

/**
 * True when some LIMIT + 1 admissions certainly fell into less than one window: each was requested after one instant
 * and answered less than a window later.
 */
function hasWindowOverLimit(admissions: readonly AdmissionInterval[]): boolean {
  const byAnswer = [...admissions].sort((a, b) => a.answeredMs - b.answeredMs);
  return byAnswer.some(({ askedMs: fromMs }) => {
    const inside = byAnswer.filter((one) => one.askedMs >= fromMs && one.answeredMs - fromMs < WINDOW_MS);
    return inside.length > LIMIT;
  });
}

test('rpm window: the check itself finds one admission too many', () => {
  const at = (ms: number): AdmissionInterval => ({ askedMs: ms, answeredMs: ms + 1 });
  const full = Array.from({ length: LIMIT }, (_, i) => at(1000 + i));
  expect(hasWindowOverLimit([...full, at(1000 + WINDOW_MS)])).toBe(false);
  expect(hasWindowOverLimit([...full, at(1000 + WINDOW_MS - 2)])).toBe(true);
});

const arrival = fc.record({
  plane: fc.nat(PLANES - 1),
  burst: fc.integer({ min: 1, max: 8 }),
  pauseMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 40 })),
});

test('rpm window: no window at any position contains more than the limit, for any arrivals at any data plane', async () => {
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(arrival, { minLength: 20, maxLength: 40 }), async (arrivals) => {
      const request = createAdmissionRequest({ agentId: `arrivals-${runs++}`, rpmLimit: LIMIT, rpdLimit: 1_000_000 });
      const admissions: AdmissionInterval[] = [];
      const pending: Promise<void>[] = [];
      for (const { plane, burst, pauseMs } of arrivals) {
        for (let i = 0; i < burst; i++) {
          const askedMs = performance.now();
          const answer = admit(planes[(plane + i) % PLANES]!, request).then(({ outcome }) => {
            if (outcome === 'admitted') admissions.push({ askedMs, answeredMs: performance.now() });
            else expect(outcome).toBe('rpm');
          });
          pending.push(answer);
        }
        if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
      await Promise.all(pending);
      expect(admissions.length).toBeGreaterThanOrEqual(LIMIT);
      expect(hasWindowOverLimit(admissions)).toBe(false);
    }),
    { numRuns: 8 },
  );
});
