/**
 * `POST {gateway}/v1/runs`, `GET` and `DELETE {gateway}/v1/runs/{id}`: an agent starts, reads and ends its runs
 * (docs/contract.md#runs). The control plane decides and responds; this stage only passes request and response on.
 */
import type { ICallRunsRequest, ICallRunsResponse } from '@acg/proto/messages';
import { REJECTIONS } from '../../rejection/rejections.js';
import type { Exchange } from '../exchange.js';
import { DONE, type Stage, WAIT } from '../pipeline.js';

export const RUNS_PATH = '/v1/runs';
/** Beyond it the control plane rejects the description of a run. */
const BODY_BYTES_MAX = 65_536;

/** Rejects when no control plane responds in time. */
export type CallRuns = (request: Omit<ICallRunsRequest, 'dataPlaneId'>) => Promise<ICallRunsResponse>;

export function createCallRunsStage(callRuns: CallRuns): Stage {
  const call = (exchange: Exchange, runId: string): void => {
    const { context, tokenHash } = exchange.access;
    const { orgId, agentId } = context!;
    const { method } = exchange.request;
    const body = method === 'POST' ? (exchange.body?.takeWhole().toString() ?? '') : '';
    callRuns({ tokenHash: Buffer.from(tokenHash, 'hex'), orgId, agentId, method, runId, body }).then(
      (response) => exchange.respondJson(response.body ?? '', response.status ?? 0),
      () => exchange.reject(REJECTIONS.contextsUnavailable),
    );
  };
  return (exchange) => {
    const { method, rawPath } = exchange.request;
    const runId = rawPath.slice(RUNS_PATH.length + 1);
    const isKnown = runId === '' ? method === 'POST' : method === 'GET' || method === 'DELETE';
    if (!isKnown) {
      exchange.reject(REJECTIONS.methodNotAllowed);
      return DONE;
    }
    const { body } = exchange;
    if (body === null || method !== 'POST' || body.isReady) return callWithBody(exchange, runId, call);
    body.onReady = () => {
      body.onReady = null;
      if (!exchange.hasEnded) callWithBody(exchange, runId, call);
    };
    return WAIT;
  };
}

function callWithBody(exchange: Exchange, runId: string, call: (exchange: Exchange, runId: string) => void) {
  const { body } = exchange;
  const isPost = exchange.request.method === 'POST';
  if (isPost && body !== null && (!body.isComplete || body.bytes > BODY_BYTES_MAX)) {
    exchange.reject(REJECTIONS.runBodyTooLarge);
    return DONE;
  }
  call(exchange, runId);
  return WAIT;
}
