import { Type } from 'typebox';
import { InvalidInput } from '../domain/errors.js';
import type { App } from '../http/app.js';
import { page } from '../http/pagination.js';
import { isUuid } from '../ledger/checks.js';
import { type ExportSender, sendExport } from './export-reply.js';
import { LogRecord } from './log-schema.js';
import type { UsageLogs } from './logs.js';
import { askedRange, nameOfRange, periodOf } from './period.js';
import type { UsageReports } from './reports.js';
import * as schema from './schema.js';

const COMPARED_MAX = 20;
const access = { access: 'viewer', project: { params: { agentId: 'agent' } } } as const;

export function usageRoutes(app: App, reports: UsageReports, logs: UsageLogs, sender: ExportSender): void {
  const params = schema.AgentParams;
  app.get(
    '/v1/usage/agents/compare',
    {
      config: { access: 'viewer', project: { query: { agentIds: 'agents' } } },
      schema: { querystring: schema.CompareQuery, response: { 200: schema.CompareReply } },
    },
    async ({ actor, query }) => ({
      period: periodOf(query),
      ...(await reports.compare(actor, parseAgentIds(query.agentIds), query)),
    }),
  );
  app.get(
    '/v1/usage/agents/:agentId',
    { config: access, schema: { params, querystring: schema.DaysQuery, response: { 200: schema.UsageReply } } },
    async ({ actor, params, query }) => ({ usage: await reports.usage(actor, params.agentId, query.start, query.end) }),
  );
  app.get(
    '/v1/usage/agents/:agentId/summary',
    { config: access, schema: { params, querystring: schema.RangeQuery, response: { 200: schema.UsageSummary } } },
    async ({ actor, params, query }) => reports.summary(actor, params.agentId, query),
  );
  app.get(
    '/v1/usage/agents/:agentId/timeseries',
    {
      config: access,
      schema: { params, querystring: schema.TimeseriesQuery, response: { 200: schema.TimeseriesReply } },
    },
    async ({ actor, params, query }) => ({
      period: periodOf(query),
      ...(await reports.timeseries(actor, params.agentId, query)),
    }),
  );
  app.get(
    '/v1/usage/agents/:agentId/providers',
    { config: access, schema: { params, querystring: schema.RangeQuery, response: { 200: schema.ProvidersReply } } },
    async ({ actor, params, query }) => ({
      period: periodOf(query),
      providers: await reports.providers(actor, params.agentId, query),
    }),
  );
  logRoutes(app, reports, logs, sender);
}

function logRoutes(app: App, reports: UsageReports, logs: UsageLogs, sender: ExportSender): void {
  const params = schema.AgentParams;
  app.get(
    '/v1/usage/agents/:agentId/logs',
    { config: access, schema: { params, querystring: schema.LogsQuery, response: { 200: schema.LogsReply } } },
    async ({ actor, params, query }) => {
      await reports.agent(actor, params.agentId);
      const { limit, offset } = page(query);
      return { ...(await logs.list(actor.orgId, params.agentId, query, { limit, offset })), limit, offset };
    },
  );
  app.get(
    '/v1/usage/agents/:agentId/export',
    {
      config: access,
      schema: { params, querystring: schema.ExportQuery, response: { 200: Type.Array(LogRecord) } },
    },
    async ({ actor, params: { agentId }, query }, reply) => {
      await reports.agent(actor, agentId);
      const name = `${agentId}-${nameOfRange(query)}`;
      return sendExport(reply, sender, name, {
        scope: { orgId: actor.orgId, projectId: null, agentIds: [agentId] },
        range: askedRange(query, reports.now()),
        format: query.format,
      });
    },
  );
}

/** Each id once, in their order. */
function parseAgentIds(text: string): readonly string[] {
  const ids = [...new Set(text.split(',').map((id) => id.trim().toLowerCase()))];
  if (ids.length > COMPARED_MAX) throw new InvalidInput(`agentIds must name at most ${COMPARED_MAX} agents`);
  const bad = ids.find((id) => !isUuid(id));
  if (bad !== undefined)
    throw new InvalidInput(`agentIds must be UUIDs, separated by commas; not ${JSON.stringify(bad)}`);
  return ids;
}
