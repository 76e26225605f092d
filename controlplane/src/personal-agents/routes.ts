import type { App } from '../http/app.js';
import { parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { Deleted, IdParams } from '../http/schema.js';
import { PersonalAgentList, PersonalAgentQuery, PersonalKeyInput, PersonalKeyReply } from './schema.js';
import type { PersonalAgentService } from './service.js';

/** For people only: a personal agent ends with its member, a management token has none. */
export function personalAgentRoutes(app: App, personalAgents: PersonalAgentService): void {
  app.get(
    '/v1/personal-agents',
    {
      config: { access: 'member', tokens: false },
      schema: {
        ...operation(
          'Agents',
          'listPersonalAgents',
          'List the projects that allow personal agents, and your personal agents',
        ),
        querystring: PersonalAgentQuery,
        response: { 200: PersonalAgentList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await personalAgents.list(actor, { limit, offset });
      return { personalAgents: [...rows], total, limit, offset };
    },
  );
  app.post(
    '/v1/personal-agents/keys',
    {
      config: { access: 'member', tokens: false },
      schema: {
        ...operation(
          'Agents',
          'createPersonalAgentKey',
          'Create a gateway token of your personal agent; the first one also creates the agent',
        ),
        body: PersonalKeyInput,
        response: { 201: PersonalKeyReply },
      },
    },
    async ({ actor, body }, reply) => {
      const { agent, key, secretKey } = await personalAgents.createKey(actor, body);
      return reply.code(201).send({ agent, key, secretKey: secretKey.reveal() });
    },
  );
  app.delete(
    '/v1/personal-agents/keys/:id',
    {
      config: { access: 'member', tokens: false },
      schema: {
        ...operation('Agents', 'revokePersonalAgentKey', 'Revoke a gateway token of your personal agent'),
        params: IdParams,
        response: { 200: Deleted },
      },
    },
    async ({ actor, params }) => {
      await personalAgents.revokeKey(actor, params.id);
      return { deleted: true as const };
    },
  );
}
