/** The API's document at /v1/openapi.json, as it was written from the routes (`npm run openapi`); a readable page at /docs. */
import { readFileSync } from 'node:fs';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';

const FILE = new URL('../../openapi.json', import.meta.url);
/** A release changes it, nothing else. */
const CACHE_CONTROL = 'public, max-age=300';

export function addApiDocument(app: FastifyInstance, publicUrl: string): void {
  let json: string | null = null;
  const read = (): string => {
    const document = { ...JSON.parse(readFileSync(FILE, 'utf8')), servers: [{ url: publicUrl }] };
    return JSON.stringify(document);
  };
  app.get(
    '/v1/openapi.json',
    { config: { access: 'public' }, schema: { response: { 200: Type.Object({}, { additionalProperties: true }) } } },
    async (_request, reply) => {
      json ??= read(); // read when it is asked for, so that it can be written anew where it is broken
      return reply.header('cache-control', CACHE_CONTROL).type('application/json; charset=utf-8').send(json);
    },
  );
  // All its files come from this server: the page works without the internet.
  app.register(async (scope) => {
    await scope.register(swagger, { mode: 'static', specification: { document: JSON.parse(read()) } });
    await scope.register(swaggerUi as never, PAGE as never);
  });
}

/** The page runs its own files and talks to this server only. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const PAGE = {
  routePrefix: '/docs',
  staticCSP: PAGE_POLICY,
  uiConfig: { validatorUrl: null, deepLinking: true, docExpansion: 'list' as const, tryItOutEnabled: false },
  theme: { title: 'Agent Credential Gateway: API' },
};
