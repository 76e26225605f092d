import type { App } from '../http/app.js';
import { page } from '../http/pagination.js';
import { Deleted, IdParams } from '../http/schema.js';
import { AccountInput, AccountList, AccountQuery, AccountReply, RotateInput } from './schema.js';
import type { AccountService } from './service.js';

export function accountRoutes(app: App, accounts: AccountService): void {
  app.get(
    '/v1/providers/accounts',
    { config: { access: 'viewer' }, schema: { querystring: AccountQuery, response: { 200: AccountList } } },
    async ({ actor, query }) => {
      const { limit, offset } = page(query);
      const { rows, total } = await accounts.list(actor, query.agentId ?? null, { limit, offset });
      return { accounts: [...rows], total, limit, offset };
    },
  );
  app.post(
    '/v1/providers/accounts',
    { config: { access: 'admin' }, schema: { body: AccountInput, response: { 201: AccountReply } } },
    async ({ actor, body }, reply) => reply.code(201).send({ account: await accounts.create(actor, body) }),
  );
  app.post(
    '/v1/providers/accounts/:id/rotate',
    { config: { access: 'admin' }, schema: { params: IdParams, body: RotateInput, response: { 200: AccountReply } } },
    async ({ actor, params, body }) => ({ account: await accounts.rotate(actor, params.id, body.credentials) }),
  );
  app.delete(
    '/v1/providers/accounts/:id',
    { config: { access: 'admin' }, schema: { params: IdParams, response: { 200: Deleted } } },
    async ({ actor, params }) => {
      await accounts.delete(actor, params.id);
      return { deleted: true as const };
    },
  );
}
