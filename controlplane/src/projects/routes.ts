import type { App } from '../http/app.js';
import { parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { Deleted, IdParams } from '../http/schema.js';
import { ProjectInput, ProjectList, ProjectPatch, ProjectQuery, ProjectReply } from './schema.js';
import type { ProjectService } from './service.js';

const BY_ID = { params: { id: 'project' } } as const;

export function projectRoutes(app: App, projects: ProjectService): void {
  app.get(
    '/v1/projects',
    {
      config: { access: 'viewer', project: {} },
      schema: {
        ...operation('Projects', 'listProjects', 'List projects'),
        querystring: ProjectQuery,
        response: { 200: ProjectList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await projects.list(actor, query, { limit, offset });
      return { projects: [...rows], total, limit, offset };
    },
  );
  app.post(
    '/v1/projects',
    {
      config: { access: 'admin' },
      schema: {
        ...operation('Projects', 'createProject', 'Create a project'),
        body: ProjectInput,
        response: { 201: ProjectReply },
      },
    },
    async ({ actor, body }, reply) => reply.code(201).send({ project: await projects.create(actor, body.name) }),
  );
  app.get(
    '/v1/projects/:id',
    {
      config: { access: 'viewer', project: BY_ID },
      schema: {
        ...operation('Projects', 'getProject', 'Get a project'),
        params: IdParams,
        response: { 200: ProjectReply },
      },
    },
    async ({ actor, params }) => ({ project: await projects.get(actor, params.id) }),
  );
  app.patch(
    '/v1/projects/:id',
    {
      config: { access: 'admin', project: BY_ID },
      schema: {
        ...operation(
          'Projects',
          'updateProject',
          'Change the name, budgets, defaults for new agents or personal agents of a project',
        ),
        params: IdParams,
        body: ProjectPatch,
        response: { 200: ProjectReply },
      },
    },
    async ({ actor, params, body }) => ({ project: await projects.update(actor, params.id, body) }),
  );
  app.delete(
    '/v1/projects/:id',
    {
      config: { access: 'admin', project: BY_ID },
      schema: {
        ...operation('Projects', 'deleteProject', 'Delete an empty project'),
        params: IdParams,
        response: { 200: Deleted },
      },
    },
    async ({ actor, params }) => {
      await projects.delete(actor, params.id);
      return { deleted: true as const };
    },
  );
}
