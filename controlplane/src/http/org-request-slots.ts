/**
 * Limits the concurrent requests to the management API per organization, so that no session can use all Postgres
 * connections. Further requests of the organization wait in order. Usage reports have separate slots
 * (reports/query/query-concurrency-limiter.ts): there are few, and the wait may be long.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { FairSemaphore } from '@acg/base/fairness/fair-semaphore';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { runOutsideTransaction } from '../db/ambient-transaction.js';
import { createQueueFullError } from '../domain/errors.js';

/** Slightly more than the connections of the pool; one organization alone gets half. */
const SLOTS = 12;
const WAITING_REQUESTS_MAX = 2_000;
const REPORT_ROUTES_PREFIX = '/v1/usage/';

interface RequestSlot {
  readonly orgId: string;
  /**
   * `released`: released while waiting for another system. `ended`: the response was sent or the client has left; the
   * request holds no slot any more.
   */
  state: 'held' | 'released' | 'ended';
  release(): void;
  acquire(): Promise<void> | null;
}

const currentSlot = new AsyncLocalStorage<RequestSlot>();

/**
 * Releases the request's slot while `work` waits for a system that a tenant controls, and acquires a slot again
 * afterwards. Otherwise a few organizations with unresponsive providers or name servers would hold all slots.
 *
 * An open transaction of the request (idempotency/idempotency.ts) is ended first and begun again after the slot is
 * acquired: requests with a slot may wait for the transaction, so its holder must never wait for a slot. So call it
 * before anything is written.
 */
export function runWithoutRequestSlot<T>(work: () => Promise<T>): Promise<T> {
  return runOutsideTransaction(() => releaseSlotDuring(work));
}

async function releaseSlotDuring<T>(work: () => Promise<T>): Promise<T> {
  const slot = currentSlot.getStore();
  if (slot?.state !== 'held') return work();
  slot.state = 'released';
  slot.release();
  try {
    return await work();
  } finally {
    await reacquireSlot(slot);
  }
}

async function reacquireSlot(slot: RequestSlot): Promise<void> {
  const hasEnded = (): boolean => slot.state === 'ended';
  if (hasEnded()) return;
  await slot.acquire();
  if (hasEnded()) slot.release();
  else slot.state = 'held';
}

export function addRequestSlots(app: FastifyInstance): void {
  const slots = new FairSemaphore({
    runningMax: SLOTS,
    waitingMax: WAITING_REQUESTS_MAX,
    createError: () => createQueueFullError('requests of this organization'),
    fraction: 1 / 2,
  });
  const slotByRequest = new WeakMap<FastifyRequest, RequestSlot>();
  const endSlot = (request: FastifyRequest): void => {
    const slot = slotByRequest.get(request);
    if (slot === undefined) return;
    slotByRequest.delete(request);
    if (slot.state === 'held') slot.release();
    slot.state = 'ended';
  };
  // Runs after the body has arrived, so that a slow sender holds no slot.
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.tenant === null || request.routeOptions.url?.startsWith(REPORT_ROUTES_PREFIX)) {
      done();
      return;
    }
    const { orgId } = request.tenant;
    const slot: RequestSlot = {
      orgId,
      state: 'held',
      release: () => slots.release(orgId),
      acquire: () => slots.acquire(orgId),
    };
    const proceed = (): void => {
      slotByRequest.set(request, slot);
      currentSlot.run(slot, done);
    };
    const wait = slot.acquire();
    if (wait === null) proceed();
    else {
      request.actorStale = true;
      wait.then(proceed, done);
    }
  });
  // The work is done; a client that reads slowly must not hold the slot.
  app.addHook('onSend', async (request) => endSlot(request));
  app.addHook('onResponse', async (request) => endSlot(request));
}
