/**
 * Requests to the management API that run at the same time, divided by organization: whatever one session asks for, and
 * however many times at once, the connections to Postgres are not all its own. Further ones wait behind those of their
 * organization. Usage reports have places of their own (reports/query-gate.ts), which are few and may be waited for long.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { FairSemaphore } from '../concurrency/fair-semaphore.js';
import { runOutsideTransaction } from '../db/ambient-transaction.js';

/** A little above the connections: one organization alone has half of these. */
const SLOTS = 12;
const WAITING_REQUESTS_MAX = 2_000;
const REPORT_ROUTES_PREFIX = '/v1/usage/';

interface RequestSlot {
  readonly orgId: string;
  /** `over`: it was answered, or its client has left; it takes no place any more. */
  state: 'held' | 'outside' | 'over';
  release(): void;
  acquire(): Promise<void> | null;
}

const currentSlot = new AsyncLocalStorage<RequestSlot>();

/**
 * Does what somebody else's machine may draw out without the place of the request, which is taken again afterwards: else
 * a few organizations whose providers or name servers hang would hold all places. A transaction that stands open for the
 * call (auth/idempotency.ts) ends before and is begun anew after the place is taken: whoever holds one never waits for a
 * place, as those with a place wait for it. So nothing may be written before this.
 */
export function runWithoutRequestSlot<T>(work: () => Promise<T>): Promise<T> {
  return runOutsideTransaction(() => releaseSlotDuring(work));
}

async function releaseSlotDuring<T>(work: () => Promise<T>): Promise<T> {
  const turn = currentSlot.getStore();
  if (turn?.state !== 'held') return work();
  turn.state = 'outside';
  turn.release();
  try {
    return await work();
  } finally {
    await reacquireSlot(turn);
  }
}

async function reacquireSlot(turn: RequestSlot): Promise<void> {
  const isOver = (): boolean => turn.state === 'over';
  if (isOver()) return;
  await turn.acquire();
  if (isOver()) turn.release();
  else turn.state = 'held';
}

export function addRequestSlots(app: FastifyInstance): void {
  const places = new FairSemaphore({
    runningMax: SLOTS,
    waitingMax: WAITING_REQUESTS_MAX,
    subject: 'requests of this organization',
    freeRatio: 1,
  });
  const held = new WeakMap<FastifyRequest, RequestSlot>();
  const leave = (request: FastifyRequest): void => {
    const turn = held.get(request);
    if (turn === undefined) return;
    held.delete(request);
    if (turn.state === 'held') turn.release();
    turn.state = 'over';
  };
  // After the body has come: who sends it slowly holds no place.
  app.addHook('preHandler', (request, _reply, done) => {
    const { access = 'public' } = request.routeOptions.config;
    if (access === 'public' || request.routeOptions.url?.startsWith(REPORT_ROUTES_PREFIX)) {
      done();
      return;
    }
    const { orgId } = request.actor;
    const turn: RequestSlot = {
      orgId,
      state: 'held',
      release: () => places.release(orgId),
      acquire: () => places.acquire(orgId),
    };
    const goOn = (): void => {
      held.set(request, turn);
      currentSlot.run(turn, done);
    };
    const wait = turn.acquire();
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
