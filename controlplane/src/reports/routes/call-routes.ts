import type { App } from '../../http/app.js';
import { parsePage } from '../../http/limit-offset-pagination.js';
import { operation } from '../../http/operation-id-tag-and-summary.js';
import { IdParams } from '../../http/schema.js';
import type { CallLog } from '../calls/call-log.js';
import { CallReply, CallsQuery, CallsReply } from '../calls/call-schema.js';
import { MergedCallsQuery, MergedCallsReply } from '../calls/merged-call-schema.js';
import type { MergedCalls } from '../calls/merged-calls.js';
import { RejectedCallsQuery, RejectedCallsReply } from '../calls/rejected-call-schema.js';
import type { RejectedCalls } from '../calls/rejected-calls.js';

export function callRoutes(app: App, calls: CallLog, rejectedCalls: RejectedCalls, merged: MergedCalls): void {
  app.get(
    '/v1/usage/calls',
    {
      config: { access: 'viewer', project: { query: { agentId: 'agent', projectId: 'project' }, listBy: 'projectId' } },
      schema: {
        ...operation('Usage', 'listForwardedAndRejectedCalls', 'List forwarded and rejected calls in one list'),
        querystring: MergedCallsQuery,
        response: { 200: MergedCallsReply },
      },
    },
    async ({ actor, query }) => merged.list(actor, query),
  );
  app.get(
    '/v1/usage/rejected-calls',
    {
      config: { access: 'admin', project: { query: { agentId: 'agent', projectId: 'project' }, listBy: 'projectId' } },
      schema: {
        ...operation('Usage', 'listRejectedCalls', 'List the newest calls that the gateway rejected'),
        querystring: RejectedCallsQuery,
        response: { 200: RejectedCallsReply },
      },
    },
    async ({ actor, query }) => rejectedCalls.list(actor, query, parsePage(query)),
  );
  app.get(
    '/v1/usage/logs',
    {
      config: { access: 'viewer', project: { query: { agentId: 'agent', projectId: 'project' }, listBy: 'projectId' } },
      schema: {
        ...operation('Usage', 'listCalls', 'List calls of the organization, a project or an agent'),
        querystring: CallsQuery,
        response: { 200: CallsReply },
      },
    },
    async ({ actor, query }) => calls.list(actor, query, parsePage(query)),
  );
  app.get(
    '/v1/usage/logs/:id',
    {
      config: { access: 'viewer', project: {} },
      schema: { ...operation('Usage', 'getCall', 'Get a call'), params: IdParams, response: { 200: CallReply } },
    },
    async ({ actor, params }) => ({ log: await calls.get(actor, params.id) }),
  );
}
