import { Type } from 'typebox';
import { InvalidInput } from '../../domain/errors.js';
import type { App } from '../../http/app.js';
import { parsePage } from '../../http/limit-offset-pagination.js';
import { operation } from '../../http/operation-id-tag-and-summary.js';
import { isUuid } from '../../ledger/usage-field-validation.js';
import type { AgentReports } from '../aggregates/agent-reports.js';
import * as schema from '../aggregates/schema.js';
import type { AgentLogs } from '../calls/agent-logs.js';
import { type ExportContext, sendExport } from '../export/send-export.js';
import { LogRecord } from '../log-record/log-schema.js';
import { rangeFileName, requestedPeriod, resolveRange } from '../query/time-range.js';

const COMPARED_AGENTS_MAX = 20;
const access = { access: 'viewer', project: { params: { agentId: 'agent' } } } as const;

export function agentReportRoutes(
  app: App,
  reports: AgentReports,
  logs: AgentLogs,
  exportContext: ExportContext,
): void {
  const params = schema.AgentParams;
  app.get(
    '/v1/usage/agents/compare',
    {
      config: { access: 'viewer', project: { query: { agentIds: 'agents' } } },
      schema: {
        ...operation('Usage', 'compareAgents', 'Compare the usage of several agents'),
        errorStatuses: [404],
        querystring: schema.CompareQuery,
        response: { 200: schema.CompareReply },
      },
    },
    async ({ actor, query }) => ({
      period: requestedPeriod(query),
      ...(await reports.compare(actor, parseAgentIds(query.agentIds), query)),
    }),
  );
  app.get(
    '/v1/usage/agents/:agentId',
    {
      config: access,
      schema: {
        ...operation('Usage', 'getAgentUsage', 'Get usage totals of an agent by provider'),
        params,
        querystring: schema.DaysQuery,
        response: { 200: schema.UsageReply },
      },
    },
    async ({ actor, params, query }) => ({ usage: await reports.usage(actor, params.agentId, query.start, query.end) }),
  );
  app.get(
    '/v1/usage/agents/:agentId/summary',
    {
      config: access,
      schema: {
        ...operation('Usage', 'getAgentSummary', 'Get usage totals and forecast of an agent'),
        params,
        querystring: schema.RangeQuery,
        response: { 200: schema.UsageSummary },
      },
    },
    async ({ actor, params, query }) => reports.summary(actor, params.agentId, query),
  );
  app.get(
    '/v1/usage/agents/:agentId/timeseries',
    {
      config: access,
      schema: {
        ...operation('Usage', 'getAgentTimeseries', 'Get usage of an agent over time'),
        params,
        querystring: schema.TimeseriesQuery,
        response: { 200: schema.TimeseriesReply },
      },
    },
    async ({ actor, params, query }) => ({
      period: requestedPeriod(query),
      ...(await reports.timeseries(actor, params.agentId, query)),
    }),
  );
  app.get(
    '/v1/usage/agents/:agentId/providers',
    {
      config: access,
      schema: {
        ...operation('Usage', 'getAgentProviders', 'Get latency and errors of an agent by provider'),
        params,
        querystring: schema.RangeQuery,
        response: { 200: schema.ProvidersReply },
      },
    },
    async ({ actor, params, query }) => ({
      period: requestedPeriod(query),
      providers: await reports.providers(actor, params.agentId, query),
    }),
  );
  agentLogRoutes(app, reports, logs, exportContext);
}

function agentLogRoutes(app: App, reports: AgentReports, logs: AgentLogs, exportContext: ExportContext): void {
  const params = schema.AgentParams;
  app.get(
    '/v1/usage/agents/:agentId/logs',
    {
      config: access,
      schema: {
        ...operation('Usage', 'listAgentCalls', 'List calls of an agent'),
        params,
        querystring: schema.LogsQuery,
        response: { 200: schema.LogsReply },
      },
    },
    async ({ actor, params, query }) => {
      await reports.loadAgentOrThrow(actor, params.agentId);
      const { limit, offset } = parsePage(query);
      return { ...(await logs.list(actor.orgId, params.agentId, query, { limit, offset })), limit, offset };
    },
  );
  app.get(
    '/v1/usage/agents/:agentId/export',
    {
      config: access,
      schema: {
        ...operation('Usage', 'exportAgentCalls', 'Export all calls of an agent as a file'),
        produces: ['application/json', 'text/csv'],
        params,
        querystring: schema.ExportQuery,
        response: { 200: Type.Array(LogRecord) },
      },
    },
    async ({ actor, params: { agentId }, query }, reply) => {
      await reports.loadAgentOrThrow(actor, agentId);
      const name = `${agentId}-${rangeFileName(query)}`;
      return sendExport(reply, exportContext, name, {
        scope: { orgId: actor.orgId, projectId: null, agentIds: [agentId] },
        range: resolveRange(query, reports.now()),
        format: query.format,
      });
    },
  );
}

/** The distinct ids in their order. Throws {@link InvalidInput}. */
function parseAgentIds(text: string): readonly string[] {
  const ids = [...new Set(text.split(',').map((id) => id.trim().toLowerCase()))];
  if (ids.length > COMPARED_AGENTS_MAX)
    throw new InvalidInput(`agentIds must name at most ${COMPARED_AGENTS_MAX} agents`);
  const bad = ids.find((id) => !isUuid(id));
  if (bad !== undefined)
    throw new InvalidInput(`agentIds must be UUIDs separated by commas (got ${JSON.stringify(bad)})`);
  return ids;
}
