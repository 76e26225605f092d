import type { App } from '../http/app.js';
import { parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { Deleted, IdParams } from '../http/schema.js';
import { SuspendedList, SuspendedQuery, SuspendedReply } from './suspended-item-schema.js';
import type { SuspensionService } from './unproven-founder-item-suspension.js';

/** `tokens: false`: a management token cannot review suspended items, which may include management tokens. */
const config = { access: 'owner', tokens: false } as const;

export function suspensionRoutes(app: App, suspension: SuspensionService): void {
  app.get(
    '/v1/suspended-items',
    {
      config,
      schema: {
        ...operation(
          'Organizations',
          'listSuspendedItems',
          'List items that were suspended because they were created before the founder’s mailbox was proven',
        ),
        querystring: SuspendedQuery,
        response: { 200: SuspendedList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await suspension.list(actor, query, { limit, offset });
      return { items: [...rows], total, limit, offset };
    },
  );
  app.post(
    '/v1/suspended-items/:id/keep',
    {
      config,
      schema: {
        ...operation('Organizations', 'keepSuspendedItem', 'Keep a suspended item: restore it'),
        errorStatuses: [409],
        params: IdParams,
        response: { 201: SuspendedReply },
      },
    },
    async ({ actor, params }, reply) => reply.code(201).send({ item: await suspension.keep(actor, params.id) }),
  );
  app.delete(
    '/v1/suspended-items/:id',
    {
      config,
      schema: {
        ...operation('Organizations', 'revokeSuspendedItem', 'Revoke a suspended item: delete it permanently'),
        params: IdParams,
        response: { 200: Deleted },
      },
    },
    async ({ actor, params }) => {
      await suspension.revoke(actor, params.id);
      return { deleted: true as const };
    },
  );
}
