/**
 * What a management token of one project may touch: only rows of that project. Each route says in `config.project` where
 * its ids stand and of what they are; a route that does not say is closed to such a token, so a new one cannot leak. An
 * agent, a key or an account never moves to another project, so what is looked at here still holds in the handler.
 */
import { UUID_PATTERN } from '@acg/base/uuid';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Sql } from '../db/sql.js';
import { Forbidden, NotFound } from '../domain/errors.js';
import type { ProjectIdKind, ProjectScope } from '../http/route-access.js';

type RequestFields = Record<string, unknown>;

export function enforceProjectScope(app: FastifyInstance, sql: Sql): void {
  app.addHook('preHandler', async (request) => {
    const projectId = request.actor?.token?.projectId ?? null;
    if (projectId === null || request.routeOptions.config.access === 'public') return;
    const scope = request.routeOptions.config.project;
    if (scope === undefined) throw new Forbidden('a token of one project may not do this: it concerns more than that');
    await assertIdsInProject(sql, request, scope, projectId);
  });
}

async function assertIdsInProject(sql: Sql, request: FastifyRequest, scope: ProjectScope, projectId: string) {
  let named = 0;
  for (const part of ['params', 'query', 'body'] as const) {
    const fields = request[part] as RequestFields | undefined;
    for (const [field, kind] of Object.entries(scope[part] ?? {})) {
      const value = fields?.[field];
      if (typeof value !== 'string') continue;
      named++;
      if (!(await areInProject(sql, kind, value, projectId))) throw new NotFound(kind);
    }
  }
  if (named > 0) return;
  if (scope.listBy !== undefined) (request.query as RequestFields)[scope.listBy] = projectId;
  else if (scope.body !== undefined) throw new Forbidden('a token of one project must name that project, or its agent');
}

async function areInProject(sql: Sql, kind: ProjectIdKind, value: string, projectId: string): Promise<boolean> {
  if (kind === 'project') return value.toLowerCase() === projectId;
  const ids = value.split(',').map((id) => id.trim().toLowerCase());
  // What is no id is refused, in its own words, by the route itself.
  if (kind === 'agents' && !ids.every((id) => UUID_PATTERN.test(id))) return true;
  const rows = await sql<{ n: number }[]>`
    select count(distinct id) as n from ${SCOPED_TABLES[kind](sql)} as rows
     where project_id = ${projectId} and id = any(${ids}::uuid[])`;
  return rows[0]!.n === new Set(ids).size;
}

const agentsTable = (sql: Sql) => sql`agents`;
const SCOPED_TABLES = {
  agent: agentsTable,
  agents: agentsTable,
  key: (sql: Sql) => sql`api_keys`,
  credential: (sql: Sql) => sql`credentials`,
  account: (sql: Sql) => sql`(
    select a.id, g.project_id from provider_accounts a join agents g on g.id = a.agent_id)`,
} as const;
