/** Routes of the usage reports of an organization, its projects and agents. */
import { Type } from 'typebox';
import type { App } from '../../http/app.js';
import { parsePage } from '../../http/pagination.js';
import type { AgentFiguresReport } from '../aggregates/agent-figures.js';
import { AgentFiguresQuery, AgentFiguresReply } from '../aggregates/agent-figures-schema.js';
import * as schema from '../aggregates/schema.js';
import type { ScopeReports } from '../aggregates/scope-reports.js';
import { type ExportContext, sendExport } from '../export/send-export.js';
import { LogRecord } from '../log-record/log-schema.js';
import { rangeFileName } from '../query/time-range.js';

const config = {
  access: 'viewer',
  project: { query: { agentId: 'agent', projectId: 'project' }, listBy: 'projectId' },
} as const;

export function scopeReportRoutes(
  app: App,
  reports: ScopeReports,
  agents: AgentFiguresReport,
  exportContext: ExportContext,
): void {
  app.get(
    '/v1/usage/export',
    { config, schema: { querystring: schema.ScopeExportQuery, response: { 200: Type.Array(LogRecord) } } },
    async ({ actor, query }, reply) => {
      const { scope, range } = await reports.resolveExport(actor, query);
      const scopeName = query.agentId ?? scope.projectId ?? 'organization';
      const name = `${scopeName}-${rangeFileName(query)}`;
      return sendExport(reply, exportContext, name, { scope, range, format: query.format });
    },
  );
  app.get(
    '/v1/usage/agents',
    {
      config: { access: 'viewer', project: { query: { projectId: 'project' }, listBy: 'projectId' } },
      schema: { querystring: AgentFiguresQuery, response: { 200: AgentFiguresReply } },
    },
    async ({ actor, query }) => agents.list(actor, query, parsePage(query)),
  );
  app.get(
    '/v1/usage/summary',
    { config, schema: { querystring: schema.ScopeQuery, response: { 200: schema.ScopeSummary } } },
    async ({ actor, query }) => reports.summary(actor, query),
  );
  app.get(
    '/v1/usage/timeseries',
    { config, schema: { querystring: schema.ScopeSeriesQuery, response: { 200: schema.ScopeSeries } } },
    async ({ actor, query }) => reports.timeseries(actor, query),
  );
  app.get(
    '/v1/usage/breakdown',
    { config, schema: { querystring: schema.BreakdownQuery, response: { 200: schema.Breakdown } } },
    async ({ actor, query }) => reports.breakdown(actor, query.by, query, parsePage(query)),
  );
  app.get(
    '/v1/usage/refusals',
    { config, schema: { querystring: schema.ScopeQuery, response: { 200: schema.Refusals } } },
    async ({ actor, query }) => reports.refusals(actor, query),
  );
}
