/** Routes of the usage reports of an organization, its projects and agents. */

import { Type } from 'typebox';
import type { App } from '../../http/app.js';
import { parsePage } from '../../http/limit-offset-pagination.js';
import { operation } from '../../http/operation-id-tag-and-summary.js';
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
const keyConfig = {
  access: 'viewer',
  project: { query: { agentId: 'agent', projectId: 'project', keyId: 'key' }, listBy: 'projectId' },
} as const;

export function scopeReportRoutes(
  app: App,
  reports: ScopeReports,
  agents: AgentFiguresReport,
  exportContext: ExportContext,
): void {
  app.get(
    '/v1/usage/export',
    {
      config: keyConfig,
      schema: {
        ...operation('Usage', 'exportCalls', 'Export all calls of a scope as a file'),
        produces: ['application/json', 'text/csv'],
        querystring: schema.ScopeExportQuery,
        response: { 200: Type.Array(LogRecord) },
      },
    },
    async ({ actor, query }, reply) => {
      const { scope, range } = await reports.resolveExport(actor, query);
      const scopeName = query.keyId ?? query.agentId ?? scope.projectId ?? 'organization';
      const name = `${scopeName}-${rangeFileName(query)}`;
      return sendExport(reply, exportContext, name, { scope, range, format: query.format });
    },
  );
  app.get(
    '/v1/usage/agents',
    {
      config: { access: 'viewer', project: { query: { projectId: 'project' }, listBy: 'projectId' } },
      schema: {
        ...operation('Usage', 'listAgentFigures', 'List agents of all projects with their usage'),
        querystring: AgentFiguresQuery,
        response: { 200: AgentFiguresReply },
      },
    },
    async ({ actor, query }) => agents.list(actor, query, parsePage(query)),
  );
  app.get(
    '/v1/usage/summary',
    {
      config,
      schema: {
        ...operation('Usage', 'getUsageSummary', 'Get usage totals of the organization, a project or an agent'),
        querystring: schema.ScopeQuery,
        response: { 200: schema.ScopeSummary },
      },
    },
    async ({ actor, query }) => reports.summary(actor, query),
  );
  app.get(
    '/v1/usage/timeseries',
    {
      config: keyConfig,
      schema: {
        ...operation('Usage', 'getUsageTimeseries', 'Get usage over time'),
        querystring: schema.ScopeSeriesQuery,
        response: { 200: schema.ScopeSeries },
      },
    },
    async ({ actor, query }) => reports.timeseries(actor, query),
  );
  app.get(
    '/v1/usage/breakdown',
    {
      config: keyConfig,
      schema: {
        ...operation('Usage', 'getUsageBreakdown', 'Get usage by agent, provider, model and other dimensions'),
        querystring: schema.BreakdownQuery,
        response: { 200: schema.Breakdown },
      },
    },
    async ({ actor, query }) => reports.breakdown(actor, query, parsePage(query)),
  );
  app.get(
    '/v1/usage/refusals',
    {
      config,
      schema: {
        ...operation('Usage', 'getRefusals', 'Count rejected requests by reason'),
        querystring: schema.ScopeQuery,
        response: { 200: schema.Refusals },
      },
    },
    async ({ actor, query }) => reports.refusals(actor, query),
  );
}
