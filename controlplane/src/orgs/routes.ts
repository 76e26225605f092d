import type { App } from '../http/app.js';
import { Deleted, IdParams } from '../http/schema.js';
import { OrganizationInput, OrganizationPatch, OrganizationReply, OrganizationSettings } from './schema.js';
import type { OrganizationService } from './service.js';

export function organizationRoutes(app: App, orgs: OrganizationService): void {
  app.post(
    '/v1/orgs',
    {
      config: { access: 'session', account: true },
      schema: { body: OrganizationInput, response: { 201: OrganizationReply } },
    },
    async ({ actor, body }, reply) => reply.code(201).send({ org: await orgs.create(actor, body.name) }),
  );
  app.get(
    '/v1/orgs/:id',
    { config: { access: 'viewer' }, schema: { params: IdParams, response: { 200: OrganizationSettings } } },
    async ({ actor, params }) => ({ org: await orgs.get(actor, params.id) }),
  );
  app.patch(
    '/v1/orgs/:id',
    {
      config: { access: 'admin', tokens: false },
      schema: { params: IdParams, body: OrganizationPatch, response: { 200: OrganizationSettings } },
    },
    async ({ actor, params, body }) => ({ org: await orgs.update(actor, params.id, body) }),
  );
  app.delete(
    '/v1/orgs/:id',
    { config: { access: 'owner', tokens: false }, schema: { params: IdParams, response: { 200: Deleted } } },
    async ({ actor, params }) => {
      await orgs.delete(actor, params.id);
      return { deleted: true as const };
    },
  );
}
