import type { App } from '../http/app.js';
import { page } from '../http/pagination.js';
import { IdParams } from '../http/schema.js';
import { CallReply, CallsQuery, CallsReply } from './call-schema.js';
import type { Calls } from './calls.js';

export function callRoutes(app: App, calls: Calls): void {
  app.get(
    '/v1/usage/logs',
    {
      config: { access: 'viewer', project: { query: { agentId: 'agent', projectId: 'project' }, listBy: 'projectId' } },
      schema: { querystring: CallsQuery, response: { 200: CallsReply } },
    },
    async ({ actor, query }) => calls.list(actor, query, page(query)),
  );
  app.get(
    '/v1/usage/logs/:id',
    { config: { access: 'viewer', project: {} }, schema: { params: IdParams, response: { 200: CallReply } } },
    async ({ actor, params }) => ({ log: await calls.get(actor, params.id) }),
  );
}
