import type { App } from '../http/app.js';
import { parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { Deleted, IdParams } from '../http/schema.js';
import { pickLimitsShownInLists } from '../limits/agent-limit-fields.js';
import {
  type Agent,
  AgentCreatedReply,
  AgentInput,
  AgentList,
  AgentPatch,
  AgentQuery,
  AgentReply,
  AgentStatusInput,
} from './schema.js';
import type { AgentService } from './service.js';

const BY_AGENT = { params: { id: 'agent' } } as const;

export function agentRoutes(app: App, agents: AgentService): void {
  app.get(
    '/v1/agents',
    {
      config: { access: 'viewer', project: { query: { projectId: 'project' } } },
      schema: {
        ...operation('Agents', 'listAgents', 'List the agents of a project'),
        querystring: AgentQuery,
        response: { 200: AgentList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await agents.list(actor, query, { limit, offset });
      return { agents: rows.map(presentSummary), total, limit, offset };
    },
  );
  app.post(
    '/v1/agents',
    {
      config: { access: 'admin', project: { body: { projectId: 'project' } } },
      schema: {
        ...operation('Agents', 'createAgent', 'Create an agent'),
        body: AgentInput,
        response: { 201: AgentCreatedReply },
      },
    },
    async ({ actor, body }, reply) => {
      const agent = await agents.create(actor, body);
      return reply.code(201).send({ agent: { ...presentCreated(agent), projectId: agent.projectId } });
    },
  );
  app.get(
    '/v1/agents/:id',
    {
      config: { access: 'viewer', project: BY_AGENT },
      schema: {
        ...operation('Agents', 'getAgent', 'Get an agent with its limits'),
        params: IdParams,
        response: { 200: AgentReply },
      },
    },
    async ({ actor, params }) => ({ agent: await agents.get(actor, params.id) }),
  );
  app.patch(
    '/v1/agents/:id',
    {
      config: { access: 'member', project: BY_AGENT },
      schema: {
        ...operation('Agents', 'updateAgent', 'Change the name, limits, budget or policy of an agent'),
        params: IdParams,
        body: AgentPatch,
        response: { 200: AgentReply },
      },
    },
    async ({ actor, params, body }) => ({ agent: await agents.update(actor, params.id, body) }),
  );
  app.patch(
    '/v1/agents/:id/status',
    {
      config: { access: 'admin', project: BY_AGENT },
      schema: {
        ...operation('Agents', 'setAgentStatus', 'Pause, resume or revoke an agent'),
        params: IdParams,
        body: AgentStatusInput,
        response: { 200: AgentReply },
      },
    },
    async ({ actor, params, body }) => ({ agent: await agents.setStatus(actor, params.id, body.status) }),
  );
  app.delete(
    '/v1/agents/:id',
    {
      config: { access: 'admin', project: BY_AGENT },
      schema: {
        ...operation('Agents', 'deleteAgent', 'Delete an agent with its keys and provider accounts'),
        params: IdParams,
        response: { 200: Deleted },
      },
    },
    async ({ actor, params }) => {
      await agents.delete(actor, params.id);
      return { deleted: true as const };
    },
  );
}

const presentCreated = (agent: Omit<Agent, 'budgets'>) => ({
  id: agent.id,
  name: agent.name,
  slug: agent.slug,
  status: agent.status,
  ...pickLimitsShownInLists(agent),
});

const presentSummary = (agent: Omit<Agent, 'budgets'>) => ({
  ...presentCreated(agent),
  ...(agent.ownerUserId === undefined ? {} : { ownerUserId: agent.ownerUserId }),
  createdAt: agent.createdAt,
});
