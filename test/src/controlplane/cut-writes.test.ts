/** Each route whose database connection ends at any of its writes: 503, nothing has changed, and the next call succeeds. */

import { acceptsIdempotencyKey } from '@acg/controlplane/idempotency/idempotency';
import { BackgroundTasks } from '@acg/controlplane/ops/background-tasks';
import { afterAll, expect, test, vi } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';
import { expectCutsChangeNothing } from '../fixtures/cut-writes.js';
import { callExample, exampleOf, routesWithExample } from './route-examples/index.js';

const background = new Set<BackgroundTasks>();
// Periodic work would write rows, too.
const plane = useControlPlane({}, () => {
  vi.spyOn(BackgroundTasks.prototype, 'runEvery').mockImplementation(function (this: BackgroundTasks) {
    background.add(this);
    return () => {};
  });
});
afterAll(() => {
  vi.restoreAllMocks();
});
const sql = () => plane().database.sql;

/** Each uses up what works once, before its transaction: a code of another system, or a claim of the account. */
const SKIPPED = ['POST /v1/connections', 'POST /v1/billing/accounts/:id/check'];
/** A code of the second factor works once, and a device polls every two seconds. */
const CODES = {
  except: ['second_factors', 'device_logins'],
  between: async () => {
    await sql()`update second_factors set last_step = -1`;
    await sql()`update device_logins set polled_at = null`;
  },
};

// writes-during-connection-loss.test.ts has the calls with an Idempotency-Key.
test('routes without an Idempotency-Key', async () => {
  const routes = routesWithExample(plane().service.app.routeTable).filter(
    (route) => route.method !== 'GET' && !acceptsIdempotencyKey(route),
  );
  for (const route of routes) {
    const name = `${route.method} ${route.url}`;
    if (SKIPPED.includes(name)) continue;
    const example = exampleOf(route);
    const owner = await plane().createMember('owner');
    const call = await example.prepare({ plane: plane(), owner, caller: owner });
    for (const tasks of background) await tasks.waitUntilIdle(); // mails of the preparation
    const isCode = /second-factor|device/.test(route.url);
    const { status } = await expectCutsChangeNothing(sql(), () => callExample(owner, route, call), isCode ? CODES : {});
    expect({ name, status }).toEqual({ name, status: example.success ?? 200 });
  }
});
