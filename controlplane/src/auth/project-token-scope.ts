/**
 * Restricts a management token of one project to rows of that project. Each route declares in `config.project` which
 * fields hold ids and of which kind. A route without that declaration rejects such tokens, so that a new route cannot
 * leak data. Agents, keys and accounts never move to another project, so the result still holds in the handler.
 */
import { UUID_PATTERN } from '@acg/base/uuid-patterns';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Sql } from '../db/postgres-client.js';
import { Forbidden, NotFound } from '../domain/errors.js';
import type { ProjectIdKind, ProjectScope } from '../http/route-access.js';

type RequestFields = Record<string, unknown>;

export function enforceProjectScope(app: FastifyInstance, sql: Sql): void {
  app.addHook('preHandler', async (request) => {
    const projectId = request.actor?.token?.projectId ?? null;
    if (projectId === null || request.routeOptions.config.access === 'public') return;
    const scope = request.routeOptions.config.project;
    if (scope === undefined)
      throw new Forbidden('a token of one project cannot do this: it affects more than that project');
    await assertIdsOrFilterByProject(sql, request, scope, projectId);
  });
}

async function assertIdsOrFilterByProject(sql: Sql, request: FastifyRequest, scope: ProjectScope, projectId: string) {
  let checkedFields = 0;
  for (const part of ['params', 'query', 'body'] as const) {
    const fields = request[part] as RequestFields | undefined;
    for (const [field, kind] of Object.entries(scope[part] ?? {})) {
      const given = fields?.[field];
      const value = Array.isArray(given) ? given.join() : given;
      if (typeof value !== 'string') continue;
      checkedFields++;
      if (!(await areIdsInProject(sql, kind, value, projectId))) throw new NotFound(kind);
    }
  }
  if (checkedFields > 0) return;
  if (scope.listBy !== undefined) (request.query as RequestFields)[scope.listBy] = projectId;
  else if (scope.body !== undefined)
    throw new Forbidden('a token of one project must send the id of that project or of one of its agents');
}

async function areIdsInProject(
  sql: Sql,
  kind: ProjectIdKind,
  commaSeparatedIds: string,
  projectId: string,
): Promise<boolean> {
  if (kind === 'project') return commaSeparatedIds.toLowerCase() === projectId;
  const ids = commaSeparatedIds.split(',').map((id) => id.trim().toLowerCase());
  // The route itself rejects a malformed id with a better error.
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
  // In usage, calls with a key of an exchange have the id of its trust rule as the id of their key.
  key: (sql: Sql) => sql`(
    select id, project_id from api_keys union all select id, project_id from trust_rules)`,
  'trust rule': (sql: Sql) => sql`trust_rules`,
  credential: (sql: Sql) => sql`credentials`,
  run: (sql: Sql) => sql`(select r.id, g.project_id from runs r join agents g on g.id = r.agent_id)`,
  account: (sql: Sql) => sql`(
    select a.id, g.project_id from provider_accounts a join agents g on g.id = a.agent_id)`,
} as const;
