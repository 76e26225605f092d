/**
 * Breaks the connection to Postgres in place of each response in turn, for every call that accepts an Idempotency-Key.
 * The responses before the handler are those of authentication and of the key, the same for every route: they are broken
 * for the first route of each kind of access, and for every route when PROPERTY_RUNS is set.
 */
import { randomUUID } from 'node:crypto';
import { acceptsIdempotencyKey } from '@acg/controlplane/idempotency/idempotency';
import { expect, test } from 'vitest';
import { type Member, startControlPlane, useControlPlane } from '../fixtures/control-plane.js';
import { TcpProxy } from '../fixtures/tcp-proxy.js';
import { callExample, exampleOf, routesWithExample } from './route-examples/index.js';

const plane = useControlPlane();
const AWAY = { error: 'the database is unavailable. Retry in a few seconds.' };

test('a call whose connection breaks succeeds or is 503, and after a retry it has taken effect once', async () => {
  const url = new URL(plane().database.url.reveal());
  const way = await TcpProxy.start(Number(url.port));
  url.port = String(way.port);
  /** Access → the fewest responses before a handler; more arrive when a connection prepares its statements. */
  const responsesBeforeHandler = new Map<unknown, number>();
  let left = 0;
  const through = await startControlPlane({ DATABASE_URL: url.href }, plane().database, (service) => {
    service.app.addHook('preHandler', async ({ routeOptions: { config } }) => {
      if (way.resetAfterResponses === null) return;
      const count = left - way.resetAfterResponses;
      responsesBeforeHandler.set(config.access, Math.min(count, responsesBeforeHandler.get(config.access) ?? count));
    });
  });
  const triesEverywhere = process.env.PROPERTY_RUNS !== undefined;
  const entries = async (owner: Member): Promise<number> => (await owner.call('GET', '/v1/audit?limit=1')).body.total;
  for (const route of routesWithExample(plane().service.app.routeTable).filter(acceptsIdempotencyKey)) {
    const example = exampleOf(route);
    left = triesEverywhere ? 0 : (responsesBeforeHandler.get(route.access) ?? 0);
    for (let isReset = true; isReset; left++) {
      const owner = await plane().createMember('owner');
      const call = await example.prepare({ plane: plane(), owner, caller: owner });
      const before = await entries(owner);
      const key = randomUUID();
      const by: Pick<Member, 'call'> = {
        call: (method, path, body, headers = {}) =>
          through.call(method, path, {
            token: owner.token,
            body,
            headers: { 'idempotency-key': key, ...headers },
          }),
      };
      way.resetAfterResponses = left;
      const first = await callExample(by, route, call);
      isReset = way.resetAfterResponses === null;
      way.resetAfterResponses = null;
      const seen = { route: `${route.method} ${route.url}`, left };
      const success = example.success ?? 200;
      if (first.status !== success) expect({ ...seen, ...first }).toMatchObject({ ...seen, status: 503, body: AWAY });
      const again = await callExample({ call: withRetries(by) }, route, call);
      const once = { ...seen, status: success, entries: before + (example.unaudited === undefined ? 1 : 0) };
      expect({ ...seen, status: again.status, entries: await entries(owner) }).toEqual(once);
    }
  }
  await through.stop();
  await way.stop();
});

/**
 * Other statements in flight have used the replacement connection, and the key stays locked until Postgres has noticed
 * the loss of the first one.
 */
const withRetries =
  (by: Pick<Member, 'call'>): Member['call'] =>
  async (...call) => {
    for (;;) {
      const answer = await by.call(...call);
      if (answer.status !== 503 && !(answer.status === 409 && answer.headers.has('retry-after'))) return answer;
    }
  };
