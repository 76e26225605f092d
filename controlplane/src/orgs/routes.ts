import { Type } from 'typebox';
import { SecondFactorRejection } from '../auth/users/auth-schema.js';
import type { App } from '../http/app.js';
import { PageQuery, parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { Deleted, IdParams } from '../http/schema.js';
import type { OrganizationDeletionService } from './deletion-service.js';
import {
  DeletionInput,
  OrganizationDeletionList,
  OrganizationInput,
  OrganizationPatch,
  OrganizationReply,
  OrganizationSettings,
  Restored,
} from './schema.js';
import type { OrganizationService } from './service.js';

export function organizationRoutes(app: App, orgs: OrganizationService, deletions: OrganizationDeletionService): void {
  app.post(
    '/v1/orgs',
    {
      config: { access: 'session', account: true },
      schema: {
        ...operation('Organizations', 'createOrganization', 'Create an organization'),
        body: OrganizationInput,
        response: { 201: OrganizationReply },
      },
    },
    async ({ actor, body }, reply) => reply.code(201).send({ org: await orgs.create(actor, body.name) }),
  );
  app.get(
    '/v1/orgs/:id',
    {
      config: { access: 'viewer', whileDeleted: true },
      schema: {
        ...operation('Organizations', 'getOrganization', 'Get the organization with its budget'),
        params: IdParams,
        response: { 200: OrganizationSettings },
      },
    },
    async ({ actor, params }) => ({ org: await orgs.get(actor, params.id) }),
  );
  app.patch(
    '/v1/orgs/:id',
    {
      config: { access: 'admin', tokens: false },
      schema: {
        ...operation('Organizations', 'updateOrganization', 'Rename the organization or set its budget'),
        params: IdParams,
        body: OrganizationPatch,
        response: { 200: OrganizationSettings, 403: SecondFactorRejection },
      },
    },
    async ({ actor, params, body }) => ({ org: await orgs.update(actor, params.id, body) }),
  );
  app.delete(
    '/v1/orgs/:id',
    {
      config: { access: 'owner', tokens: false },
      schema: {
        ...operation(
          'Organizations',
          'deleteOrganization',
          'Delete the organization after seven days, in which it can be restored',
        ),
        errorStatuses: [409, 429],
        description:
          'Revokes the gateway tokens of the organization at once and deletes everything in it after seven days. Until then an owner can ' +
          'restore it. All owners get a mail.',
        params: IdParams,
        body: DeletionInput,
        response: { 200: Deleted, 403: SecondFactorRejection },
      },
    },
    async ({ actor, params, body }) => {
      await deletions.requestDeletion(actor, params.id, body.password);
      return { deleted: true as const };
    },
  );
  app.post(
    '/v1/orgs/:id/restore',
    {
      config: { access: 'session', account: true },
      schema: {
        ...operation(
          'Organizations',
          'restoreOrganization',
          'Restore an organization within seven days of its deletion',
        ),
        errorStatuses: [409],
        description:
          'Restores an organization within seven days of its deletion. Gateway tokens and management tokens stay revoked.',
        params: IdParams,
        response: { 201: Restored },
      },
    },
    async ({ actor, params }, reply) => {
      await deletions.restore(actor, params.id);
      return reply.code(201).send({ restored: true as const });
    },
  );
  app.get(
    '/v1/deleted-orgs',
    {
      config: { access: 'session', account: true },
      schema: {
        ...operation('Organizations', 'listDeletedOrganizations', 'List deletions of the user’s organizations'),
        querystring: Type.Object(PageQuery),
        response: { 200: OrganizationDeletionList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await deletions.list(actor, { limit, offset });
      return { deletions: [...rows], total, limit, offset };
    },
  );
}
