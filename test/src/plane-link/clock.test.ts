/** A data plane whose clock is days off is not ready and says why; the others stay ready. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY_MS } from '@acg/base/time-and-money-units';
import { expect, test } from 'vitest';
import { PlaneProcess } from '../fixtures/plane-process.js';
import { RedisServer } from '../fixtures/redis-server.js';
import { Stack } from '../fixtures/stack.js';
import { waitUntil } from '../fixtures/wait-until.js';

const AHEAD_MS = 3 * DAY_MS;
const SHIFT_CLOCK = `--import data:text/javascript,const%20now=Date.now;Date.now=()=>now()+${AHEAD_MS}`;

test('clock: a data plane three days ahead is not ready and names the offset', async () => {
  const redis = await RedisServer.start();
  const stack = await Stack.start({ redisUrl: redis.url.href });
  const home = mkdtempSync(join(tmpdir(), 'acg-clock-'));
  const plane = new PlaneProcess('dataplane', {
    ...{ GATEWAY_DATA_DIR: home, DATAPLANE_PORT: '0', DATAPLANE_METRICS_PORT: '0', NODE_OPTIONS: SHIFT_CLOCK },
    ...{ CONTROLPLANE_GRPC: `127.0.0.1:${stack.grpcPort}`, REDIS_URL: redis.url.href },
    INTERNAL_TOKEN: 'test-internal-token-0123456789-0123456789',
  });
  try {
    const right = await stack.addDataPlane(); // resolves when it is ready
    const { metricsPort } = await plane.start();
    const url = `http://127.0.0.1:${metricsPort}`;
    const answer = await waitUntil('the offset is known', async () => {
      const response = await fetch(`${url}/readyz`);
      const body = (await response.json()) as { reason?: string };
      return /clock/.test(body.reason ?? '') ? { ...body, status: response.status } : null;
    });
    expect(answer.status).toBe(503);
    expect(answer.reason).toMatch(/^the clock is (?:2592\d\d|25919\d) s ahead of the database's: set it$/);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(Number(/^gateway_clock_offset_seconds (\S+)$/m.exec(metrics)![1])).toBeGreaterThan(250_000);
    expect((await fetch(`${right.metricsUrl}/readyz`)).status).toBe(200);
  } finally {
    await plane.stop();
    await stack.stop();
    await redis.stop();
    rmSync(home, { recursive: true, force: true });
  }
});
