import { ChunkGarbage, minorCollector } from '@acg/base/chunk-garbage';
import { Type } from 'typebox';
import { InvalidInput } from '../domain/errors.js';
import type { App } from '../http/app.js';
import { page } from '../http/pagination.js';
import { isUuid } from '../ledger/checks.js';
import { exportLogs } from './export.js';
import type { UsageLogs } from './logs.js';
import { defaultInterval, type Period, periodRange } from './period.js';
import type { QueryGate } from './query-gate.js';
import type { UsageReports } from './reports.js';
import * as schema from './schema.js';

const DEFAULT_PERIOD: Period = '24h';
const COMPARED_MAX = 20;
const access = { access: 'viewer', project: { params: { agentId: 'agent' } } } as const;
const CONTENT_TYPE = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
} as const;

export function usageRoutes(app: App, reports: UsageReports, logs: UsageLogs, gate: QueryGate): void {
  const params = schema.AgentParams;
  app.get(
    '/v1/usage/agents/compare',
    {
      config: { access: 'viewer', project: { query: { agentIds: 'agents' } } },
      schema: { querystring: schema.CompareQuery, response: { 200: schema.CompareReply } },
    },
    async ({ actor, query: { agentIds, period = DEFAULT_PERIOD } }) => ({
      period,
      agents: await reports.compare(actor, parseAgentIds(agentIds), period),
    }),
  );
  app.get(
    '/v1/usage/agents/:agentId',
    { config: access, schema: { params, querystring: schema.DaysQuery, response: { 200: schema.UsageReply } } },
    async ({ actor, params, query }) => ({ usage: await reports.usage(actor, params.agentId, query.start, query.end) }),
  );
  app.get(
    '/v1/usage/agents/:agentId/summary',
    { config: access, schema: { params, querystring: schema.PeriodQuery, response: { 200: schema.UsageSummary } } },
    async ({ actor, params, query }) => reports.summary(actor, params.agentId, query.period ?? DEFAULT_PERIOD),
  );
  app.get(
    '/v1/usage/agents/:agentId/timeseries',
    {
      config: access,
      schema: { params, querystring: schema.TimeseriesQuery, response: { 200: schema.TimeseriesReply } },
    },
    async ({ actor, params, query: { period = DEFAULT_PERIOD, interval = defaultInterval(period) } }) => ({
      period,
      interval,
      timeseries: await reports.timeseries(actor, params.agentId, period, interval),
    }),
  );
  app.get(
    '/v1/usage/agents/:agentId/providers',
    { config: access, schema: { params, querystring: schema.PeriodQuery, response: { 200: schema.ProvidersReply } } },
    async ({ actor, params, query: { period = DEFAULT_PERIOD } }) => ({
      period,
      providers: await reports.providers(actor, params.agentId, period),
    }),
  );
  logRoutes(app, reports, logs, gate);
}

function logRoutes(app: App, reports: UsageReports, logs: UsageLogs, gate: QueryGate): void {
  const params = schema.AgentParams;
  const garbage = new ChunkGarbage(minorCollector());
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
      schema: { params, querystring: schema.ExportQuery, response: { 200: Type.Array(schema.LogRecord) } },
    },
    async ({ actor, params: { agentId }, query: { format = 'json', period = DEFAULT_PERIOD } }, reply) => {
      await reports.agent(actor, agentId);
      const range = periodRange(period, reports.now());
      const stream = exportLogs(gate, garbage, { orgId: actor.orgId, agentId, range, format });
      void reply
        .header('content-type', CONTENT_TYPE[format])
        .header('content-disposition', `attachment; filename="usage-${agentId}-${period}.${format}"`);
      return reply.send(stream as unknown as schema.LogRecord[]); // sent as it is; the schema documents its rows
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
