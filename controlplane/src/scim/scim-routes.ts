/**
 * SCIM 2.0 under `/scim/v2` (RFC 7644). The token decides the organization. Errors have the form of SCIM; their rules
 * and statuses are those of the management API (http/app.ts).
 */

import { UUID_PATTERN_ANY_CASE } from '@acg/base/uuid-patterns';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { readBearerToken } from '../auth/authenticator.js';
import { isDatabaseUnavailable, type Sql } from '../db/postgres-client.js';
import { NotFound, Unauthenticated } from '../domain/errors.js';
import type { App } from '../http/app.js';
import type { Page } from '../http/limit-offset-pagination.js';
import { type DirectoryActor, TOKEN_UNKNOWN_MESSAGE } from './directory-actor.js';
import type { ScimGroupService } from './group-service.js';
import { toScimError } from './protocol/errors.js';
import * as present from './protocol/resources.js';
import { hashScimToken, isScimToken } from './scim-token.js';
import * as tokens from './token-store.js';
import type { ScimUserService } from './user-service.js';

interface ScimServices {
  readonly sql: Sql;
  readonly users: ScimUserService;
  readonly groups: ScimGroupService;
  readonly publicUrl: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on the routes of SCIM. */
    directory: DirectoryActor;
  }
}

const CONTENT_TYPE = 'application/scim+json; charset=utf-8';
const PAGE_DEFAULT = 100;
const Query = Type.Object({
  filter: Type.Optional(Type.String()),
  startIndex: Type.Optional(Type.String()),
  count: Type.Optional(Type.String()),
  attributes: Type.Optional(Type.String()),
  excludedAttributes: Type.Optional(Type.String()),
});
const withBody = { schema: { body: Type.Object({}) } };
const withQuery = { schema: { querystring: Query } };

export const SCIM_PATH = '/scim/v2';

export function scimRoutes(app: App, services: ScimServices): void {
  app.decorateRequest('directory');
  void app.register(
    async (scim) => {
      scim.addHook('onRequest', async (request) => {
        request.directory = await authenticate(services.sql, request);
        request.tenant = { orgId: request.directory.orgId, callerId: request.directory.token.id };
      });
      scim.addHook('preSerialization', async (_request, reply, body) => {
        void reply.type(CONTENT_TYPE);
        return reply.statusCode >= 400 ? toScimError(reply.statusCode, body) : body;
      });
      const routes = scim as unknown as App;
      userRoutes(routes, services);
      groupRoutes(routes, services);
      discoveryRoutes(routes, services.publicUrl + SCIM_PATH);
      scim.all('/*', async (request) => {
        throw new NotFound(`SCIM endpoint: ${request.method} ${request.url.split('?')[0]}`);
      });
    },
    { prefix: SCIM_PATH },
  );
}

async function authenticate(sql: Sql, request: FastifyRequest): Promise<DirectoryActor> {
  const text = readBearerToken(request);
  const token = isScimToken(text) ? await tokens.findLiveToken(sql, hashScimToken(text)) : null;
  if (token === null) throw new Unauthenticated(TOKEN_UNKNOWN_MESSAGE);
  if (token.shouldMarkUsed) {
    await tokens.markTokenUsed(sql, token.id).catch((error: unknown) => {
      // A missing last-used time is no reason to reject the request.
      if (!isDatabaseUnavailable(error)) throw error;
    });
  }
  const { id, name, orgId } = token;
  return { userId: null, email: '', orgId, ip: request.ip, token: { id, name } };
}

function userRoutes(app: App, { users, publicUrl }: ScimServices): void {
  const baseUrl = publicUrl + SCIM_PATH;
  app.get('/Users', withQuery, async ({ directory, query }) => {
    const { page, startIndex } = readPage(query);
    const { rows, total } = await users.list(directory, query.filter ?? null, page);
    return present.presentList(
      rows.map((row) => present.presentUser(baseUrl, row)),
      total,
      startIndex,
    );
  });
  app.get('/Users/:id', async (request) =>
    present.presentUser(baseUrl, await users.get(request.directory, readId(request, 'user'))),
  );
  app.post('/Users', withBody, async ({ directory, body }, reply) => {
    const user = await users.create(directory, body);
    return reply.code(201).send(present.presentUser(baseUrl, user));
  });
  app.put('/Users/:id', withBody, async (request) =>
    present.presentUser(baseUrl, await users.replace(request.directory, readId(request, 'user'), request.body)),
  );
  app.patch('/Users/:id', withBody, async (request) =>
    present.presentUser(baseUrl, await users.patch(request.directory, readId(request, 'user'), request.body)),
  );
  app.delete('/Users/:id', async (request, reply) => {
    await users.delete(request.directory, readId(request, 'user'));
    return sendNoContent(reply);
  });
}

function groupRoutes(app: App, { groups, publicUrl }: ScimServices): void {
  const baseUrl = publicUrl + SCIM_PATH;
  app.get('/Groups', withQuery, async ({ directory, query }) => {
    const { page, startIndex } = readPage(query);
    const { rows, total } = await groups.list(directory, query.filter ?? null, page);
    return present.presentList(
      rows.map((row) => present.presentGroup(baseUrl, row, null)),
      total,
      startIndex,
    );
  });
  app.get('/Groups/:id', withQuery, async (request) => {
    const { excludedAttributes = '' } = request.query;
    const withMembers = !excludedAttributes.toLowerCase().split(',').includes('members');
    const group = await groups.get(request.directory, readId(request, 'group'), withMembers);
    return present.presentGroup(baseUrl, group, group.members);
  });
  app.post('/Groups', withBody, async ({ directory, body }, reply) => {
    const group = await groups.create(directory, body);
    return reply.code(201).send(present.presentGroup(baseUrl, group, group.members));
  });
  app.put('/Groups/:id', withBody, async (request) => {
    const group = await groups.replace(request.directory, readId(request, 'group'), request.body);
    return present.presentGroup(baseUrl, group, group.members);
  });
  app.patch('/Groups/:id', withBody, async (request) => {
    const group = await groups.patch(request.directory, readId(request, 'group'), request.body);
    return present.presentGroup(baseUrl, group, group.members);
  });
  app.delete('/Groups/:id', async (request, reply) => {
    await groups.delete(request.directory, readId(request, 'group'));
    return sendNoContent(reply);
  });
}

function discoveryRoutes(app: App, baseUrl: string): void {
  app.get('/ServiceProviderConfig', async () => present.presentServiceProviderConfig(baseUrl));
  for (const [path, resources] of [
    ['/ResourceTypes', present.presentResourceTypes(baseUrl)],
    ['/Schemas', present.presentSchemas(baseUrl)],
  ] as const) {
    app.get(path, async () => present.presentList(resources, resources.length, 1));
    app.get(`${path}/:id`, async (request) => {
      const found = resources.find(({ id }) => id === (request.params as { id: string }).id);
      if (found === undefined) throw new NotFound(path === '/Schemas' ? 'schema' : 'resource type');
      return found;
    });
  }
}

/** RFC 7644 §3.4.2.4: a smaller startIndex counts as 1, a negative count as 0. */
function readPage(query: { startIndex?: string; count?: string }): { page: Page; startIndex: number } {
  const startIndex = Math.max(1, readInteger(query.startIndex, 1));
  const limit = Math.min(present.PAGE_MAX, Math.max(0, readInteger(query.count, PAGE_DEFAULT)));
  return { page: { limit, offset: startIndex - 1 }, startIndex };
}

function readInteger(text: string | undefined, missing: number): number {
  const value = text === undefined ? Number.NaN : Number.parseInt(text, 10);
  return Number.isSafeInteger(value) ? value : missing;
}

/** An id that is no UUID names nothing. */
function readId({ params }: FastifyRequest, what: 'user' | 'group'): string {
  const { id } = params as { id: string };
  if (!UUID_PATTERN_ANY_CASE.test(id)) throw new NotFound(what);
  return id.toLowerCase();
}

const sendNoContent = (reply: FastifyReply): FastifyReply => reply.code(204).send();
