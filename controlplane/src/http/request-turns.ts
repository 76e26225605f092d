/**
 * Requests to the management API that run at the same time, divided by organization: whatever one session asks for, and
 * however many times at once, the connections to Postgres are not all its own. Further ones wait behind those of their
 * organization. Usage reports have places of their own (reports/query-gate.ts), which are few and may be waited for long.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { FairPlaces } from '../domain/fair-places.js';

/** A little above the connections: one organization alone has half of these. */
const RUNNING_MAX = 12;
const WAITING_MAX = 2_000;
const APART = '/v1/usage/';

export function addRequestTurns(app: FastifyInstance): void {
  const places = new FairPlaces({
    runningMax: RUNNING_MAX,
    waitingMax: WAITING_MAX,
    what: 'requests of this organization',
    freeRatio: 1,
  });
  /** By request, whose place it has. */
  const held = new WeakMap<FastifyRequest, string>();
  const leave = (request: FastifyRequest): void => {
    const orgId = held.get(request);
    if (orgId === undefined) return;
    held.delete(request);
    places.leave(orgId);
  };
  // After the body has come: who sends it slowly holds no place.
  app.addHook('preHandler', async (request) => {
    const { access = 'public' } = request.routeOptions.config;
    if (access === 'public' || request.routeOptions.url?.startsWith(APART)) return;
    const { orgId } = request.actor;
    const turn = places.enter(orgId);
    if (turn !== null) await turn;
    held.set(request, orgId);
  });
  // Its work is done; how long the client takes to read is its own matter.
  app.addHook('onSend', async (request) => leave(request));
  app.addHook('onResponse', async (request) => leave(request));
}
