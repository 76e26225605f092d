/**
 * Requests to the management API that run at the same time, divided by organization: whatever one session asks for, and
 * however many times at once, the connections to Postgres are not all its own. Further ones wait behind those of their
 * organization. Usage reports have places of their own (reports/query-gate.ts), which are few and may be waited for long.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { outsideTransaction } from '../db/joined-transaction.js';
import { FairPlaces } from '../domain/fair-places.js';

/** A little above the connections: one organization alone has half of these. */
const RUNNING_MAX = 12;
const WAITING_MAX = 2_000;
const APART = '/v1/usage/';

interface Turn {
  readonly orgId: string;
  /** `over`: it was answered, or its client has left; it takes no place any more. */
  state: 'held' | 'outside' | 'over';
  leave(): void;
  enter(): Promise<void> | null;
}

const turns = new AsyncLocalStorage<Turn>();

/**
 * Does what somebody else's machine may draw out without the place of the request, which is taken again afterwards: else
 * a few organizations whose providers or name servers hang would hold all places. A transaction that stands open for the
 * call (auth/idempotency.ts) ends before and is begun anew after the place is taken: whoever holds one never waits for a
 * place, as those with a place wait for it. So nothing may be written before this.
 */
export function outsideTurn<T>(work: () => Promise<T>): Promise<T> {
  return outsideTransaction(() => withoutPlace(work));
}

async function withoutPlace<T>(work: () => Promise<T>): Promise<T> {
  const turn = turns.getStore();
  if (turn?.state !== 'held') return work();
  turn.state = 'outside';
  turn.leave();
  try {
    return await work();
  } finally {
    await enterAgain(turn);
  }
}

async function enterAgain(turn: Turn): Promise<void> {
  const isOver = (): boolean => turn.state === 'over';
  if (isOver()) return;
  await turn.enter();
  if (isOver()) turn.leave();
  else turn.state = 'held';
}

export function addRequestTurns(app: FastifyInstance): void {
  const places = new FairPlaces({
    runningMax: RUNNING_MAX,
    waitingMax: WAITING_MAX,
    what: 'requests of this organization',
    freeRatio: 1,
  });
  const held = new WeakMap<FastifyRequest, Turn>();
  const leave = (request: FastifyRequest): void => {
    const turn = held.get(request);
    if (turn === undefined) return;
    held.delete(request);
    if (turn.state === 'held') turn.leave();
    turn.state = 'over';
  };
  // After the body has come: who sends it slowly holds no place.
  app.addHook('preHandler', (request, _reply, done) => {
    const { access = 'public' } = request.routeOptions.config;
    if (access === 'public' || request.routeOptions.url?.startsWith(APART)) {
      done();
      return;
    }
    const { orgId } = request.actor;
    const turn: Turn = {
      orgId,
      state: 'held',
      leave: () => places.leave(orgId),
      enter: () => places.enter(orgId),
    };
    const goOn = (): void => {
      held.set(request, turn);
      turns.run(turn, done);
    };
    const wait = turn.enter();
    if (wait === null) goOn();
    else {
      request.actorStale = true;
      wait.then(goOn, done);
    }
  });
  // Its work is done; how long the client takes to read is its own matter.
  app.addHook('onSend', async (request) => leave(request));
  app.addHook('onResponse', async (request) => leave(request));
}
