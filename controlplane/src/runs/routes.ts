import type { App } from '../http/app.js';
import { parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { IdParams } from '../http/schema.js';
import { RunInput, RunList, RunQuery, RunReply, RunStarted } from './schema.js';
import type { RunService } from './service.js';

const BY_RUN = { params: { id: 'run' } } as const;

export function runRoutes(app: App, runs: RunService): void {
  app.get(
    '/v1/runs',
    {
      config: {
        access: 'viewer',
        project: {
          query: { agentId: 'agent', projectId: 'project', parentId: 'run', rootId: 'run' },
          listBy: 'projectId',
        },
      },
      schema: {
        ...operation('Runs', 'listRuns', 'List runs: top runs, or the runs of a tree'),
        querystring: RunQuery,
        response: { 200: RunList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await runs.list(actor, query, { limit, offset });
      return { runs: [...rows], total, limit, offset };
    },
  );
  app.post(
    '/v1/runs',
    {
      config: { access: 'admin', project: { body: { agentId: 'agent' } }, ownWriteLimit: true },
      schema: {
        ...operation('Runs', 'startRun', 'Start a run; its gateway token is returned only once'),
        body: RunInput,
        response: { 201: RunStarted },
        errorStatuses: [429],
      },
    },
    async ({ actor, body }, reply) => reply.code(201).send(await runs.start(actor, body)),
  );
  app.get(
    '/v1/runs/:id',
    {
      config: { access: 'viewer', project: BY_RUN },
      schema: {
        ...operation('Runs', 'getRun', 'Get a run'),
        params: IdParams,
        response: { 200: RunReply },
      },
    },
    async ({ actor, params }) => ({ run: await runs.get(actor, params.id) }),
  );
  app.delete(
    '/v1/runs/:id',
    {
      config: { access: 'admin', project: BY_RUN },
      schema: {
        ...operation('Runs', 'endRun', 'End a run, its sub-runs and their calls in progress'),
        params: IdParams,
        response: { 200: RunReply },
      },
    },
    async ({ actor, params }) => ({ run: await runs.end(actor, params.id) }),
  );
}
