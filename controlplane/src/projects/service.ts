/** Projects: rules and transactions. */
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit } from '../audit/audit-trail.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { Conflict, NotFound } from '../domain/errors.js';
import { nextFreeSlug, slugify } from '../domain/slug.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import type { Actor } from '../http/route-access.js';
import { publishInvalidations } from '../watch/publish-invalidations.js';
import type { Project, ProjectPatch, ProjectQuery } from './schema.js';
import * as store from './store.js';

export class ProjectService {
  constructor(readonly sql: Sql) {}

  async list(actor: Actor, query: ProjectQuery, page: Page): Promise<ListResult<Project>> {
    const { rows, total } = await store.listProjects(
      this.sql,
      actor.orgId,
      actor.token?.projectId ?? null,
      query,
      page,
    );
    return { rows: rows.map(present), total };
  }

  async get(actor: Actor, id: string): Promise<Project> {
    const row = await store.loadProject(this.sql, actor.orgId, id);
    if (row === null) throw new NotFound('project');
    return present(row);
  }

  async create(actor: Actor, name: string): Promise<Project> {
    return this.sql.begin(async (tx) => {
      const row = await insertProjectWithFreeSlug(tx, actor.orgId, name);
      await recordAudit(tx, actor, 'project.create', { type: 'project', id: row.id }, { name: [null, name] });
      return present(row);
    });
  }

  async update(actor: Actor, id: string, patch: ProjectPatch): Promise<Project> {
    return this.sql.begin(async (tx) => {
      const before = await store.loadProject(tx, actor.orgId, id);
      if (before === null) throw new NotFound('project');
      const row = await store.updateProject(tx, actor.orgId, id, { ...before, ...patch });
      if (row === null) throw new NotFound('project');
      const fields = Object.keys(patch) as (keyof ProjectPatch)[];
      const changes = Object.fromEntries(fields.map((field) => [field, [before[field], row[field]] as const]));
      await recordAudit(tx, actor, 'project.update', { type: 'project', id }, changes);
      if (patch.budgetCentsMonthly !== undefined) await publishInvalidations(tx, [{ kind: 'project', id }]);
      return present(row);
    });
  }

  async delete(actor: Actor, id: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      const agents = await store.lockAndCountAgents(tx, actor.orgId, id);
      if (agents === null) throw new NotFound('project');
      if (agents > 0) throw new Conflict(`the project still has ${agents} agents: delete them first`);
      // Recorded before the deletion, which also deletes the management tokens of the project: the actor may be one of
      // them.
      await recordAudit(tx, actor, 'project.delete', { type: 'project', id }, {});
      await store.deleteProject(tx, actor.orgId, id);
    });
  }
}

/** Also used at sign-up for the first project. Serializes writers of one organization, so that slugs do not collide. */
export async function insertProjectWithFreeSlug(tx: Tx, orgId: string, name: string): Promise<store.ProjectRow> {
  await tx`select pg_advisory_xact_lock(hashtext(${`projects:${orgId}`}))`;
  const base = slugify(name, 'project');
  const slug = nextFreeSlug(base, await store.listTakenSlugs(tx, orgId, base));
  return store.insertProject(tx, { id: uuidv7(Date.now()), orgId, name, slug });
}

const present = (row: store.ProjectRow): Project => ({ ...row, createdAt: row.createdAt.toISOString() });
