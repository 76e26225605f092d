import type { App } from '../http/app.js';
import { parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { Deleted, IdParams } from '../http/schema.js';
import { TrustRuleInput, TrustRuleList, TrustRulePatch, TrustRuleQuery, TrustRuleReply } from './schema.js';
import type { TrustRuleService } from './service.js';

const BY_RULE = { params: { id: 'trust rule' } } as const;

export function trustRuleRoutes(app: App, rules: TrustRuleService): void {
  app.get(
    '/v1/trust-rules',
    {
      config: {
        access: 'viewer',
        project: { query: { agentId: 'agent', projectId: 'project' }, listBy: 'projectId' },
      },
      schema: {
        ...operation('Trust rules', 'listTrustRules', 'List trust rules, newest first'),
        querystring: TrustRuleQuery,
        response: { 200: TrustRuleList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { agentId = null, projectId = null, sort, order } = query;
      const { rows, total } = await rules.list(actor, { agentId, projectId, sort, order }, { limit, offset });
      return { rules: [...rows], total, limit, offset };
    },
  );
  app.post(
    '/v1/trust-rules',
    {
      config: { access: 'admin', project: { body: { agentId: 'agent' } } },
      schema: {
        ...operation('Trust rules', 'createTrustRule', 'Create a trust rule; without jwks it reads the issuer’s keys'),
        errorStatuses: [409],
        body: TrustRuleInput,
        response: { 201: TrustRuleReply },
      },
    },
    async ({ actor, body }, reply) => reply.code(201).send({ rule: await rules.create(actor, body) }),
  );
  app.get(
    '/v1/trust-rules/:id',
    {
      config: { access: 'viewer', project: BY_RULE },
      schema: {
        ...operation('Trust rules', 'getTrustRule', 'Get a trust rule'),
        params: IdParams,
        response: { 200: TrustRuleReply },
      },
    },
    async ({ actor, params }) => ({ rule: await rules.get(actor, params.id) }),
  );
  app.patch(
    '/v1/trust-rules/:id',
    {
      config: { access: 'admin', project: BY_RULE },
      schema: {
        ...operation('Trust rules', 'updateTrustRule', 'Change a trust rule; all but a new name ends its keys'),
        params: IdParams,
        body: TrustRulePatch,
        response: { 200: TrustRuleReply },
      },
    },
    async ({ actor, params, body }) => ({ rule: await rules.update(actor, params.id, body) }),
  );
  app.delete(
    '/v1/trust-rules/:id',
    {
      config: { access: 'admin', project: BY_RULE },
      schema: {
        ...operation('Trust rules', 'deleteTrustRule', 'Delete a trust rule; its keys and their calls end'),
        params: IdParams,
        response: { 200: Deleted },
      },
    },
    async ({ actor, params }) => {
      await rules.delete(actor, params.id);
      return { deleted: true as const };
    },
  );
}
