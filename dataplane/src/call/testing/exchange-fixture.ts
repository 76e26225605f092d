/** Exchanges without a connection, for tests of single stages and of settling. */

import type { AgentResponse } from '@acg/dataplane/call/agent-response-interface';
import { Exchange, Phase, type RoutedExchange, type RouteResult } from '@acg/dataplane/call/exchange';
import type { Admission } from '@acg/dataplane/limits/counters-interface';

const REQUEST = {
  id: 'id-1',
  startedAtMs: 0,
  startedAtPerfMs: 0,
  method: 'GET',
  rawPath: '/',
  query: null,
  headers: [] as readonly string[],
  contentLength: -1,
  host: 'gateway',
  closesConnectionAfter: false,
};

interface TestExchange {
  readonly request?: Partial<typeof REQUEST>;
  /** Only the members that the code under test reads. */
  readonly routed: { readonly [Key in keyof RouteResult]?: object | null };
  readonly body?: object;
  /** The result of admission; without it the exchange stays in phase ROUTED. */
  readonly admission?: Partial<Admission>;
}

export function createTestExchange({ request, routed, body, admission }: TestExchange): RoutedExchange {
  const observer = { recordRejectionAndRelease: () => {}, releaseConnection: () => {}, onEnded: () => {} };
  const exchange = new Exchange({} as AgentResponse, { ...REQUEST, ...request }, observer);
  exchange.body = (body as Exchange['body'] | undefined) ?? null;
  exchange.routed = routed as RouteResult;
  exchange.advanceTo(Phase.ROUTED);
  if (admission !== undefined) {
    exchange.admission.result = admission as Admission;
    exchange.advanceTo(Phase.ADMITTED);
  }
  return exchange as RoutedExchange;
}
