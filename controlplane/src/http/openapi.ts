/** OpenAPI 3.1 at /v1/openapi.json, made from the schemas that validate and serialise; a readable page at /docs. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Access } from './access.js';
import { ErrorReply } from './schema.js';

interface OpenApiOptions {
  readonly version: string;
  readonly publicUrl: string;
}

const ACCESS_TEXT: Readonly<Record<Access, string>> = {
  public: 'No session needed.',
  session: 'Any session, whatever the role.',
  viewer: 'Role: viewer or higher.',
  member: 'Role: member or higher.',
  admin: 'Role: admin or owner.',
  owner: 'Role: owner.',
};

/** Called before any route is declared: it listens for them. */
export function addOpenApi(app: FastifyInstance, options: OpenApiOptions): void {
  const plugin = swagger as unknown as (instance: FastifyInstance, opts: object, done: () => void) => void;
  // Called directly, not through register(), which would run only after the routes are declared.
  plugin(app, { openapi: document(options), transform: describeRoute }, () => {});
  app.get('/v1/openapi.json', {
    config: { access: 'public' },
    schema: { hide: true, response: { 200: Type.Object({}, { additionalProperties: true }) } },
    handler: async () => app.swagger(),
  });
  // All its files come from this server: the page works without the internet.
  const page = swaggerUi as unknown as (instance: FastifyInstance, opts: object) => Promise<void>;
  app.register(async (scope) => page(scope, PAGE));
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

const document = (options: OpenApiOptions) => ({
  openapi: '3.1.0',
  info: {
    title: 'Agent Credential Gateway',
    description: 'The management API: organizations, agents, gateway tokens, provider accounts, usage, webhooks.',
    version: options.version,
  },
  servers: [{ url: options.publicUrl }],
  components: { securitySchemes: { session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
});

interface TransformInput {
  readonly schema: Record<string, unknown> & { response?: Record<string, unknown> };
  readonly url: string;
  readonly route: { readonly method: unknown; readonly config?: { readonly access?: Access } };
}

/** Adds what every route has in common, so that the routes need not repeat it: tag, security, error answers. */
function describeRoute({ schema, url, route }: TransformInput) {
  const access = route.config?.access;
  if (access === undefined || schema?.hide === true) return { schema: { ...schema, hide: true }, url };
  const statuses = [400, 401, 429, 500];
  if (access !== 'public' && access !== 'session') statuses.push(403);
  if (url.includes(':') || schema.body !== undefined) statuses.push(404);
  if (route.method !== 'GET') statuses.push(409);
  const errors = Object.fromEntries(statuses.map((status) => [status, ErrorReply]));
  return {
    url,
    schema: {
      operationId: operationId(String(route.method), url),
      ...schema,
      tags: schema.tags ?? [url.split('/')[2]],
      description: [schema.description, ACCESS_TEXT[access]].filter(Boolean).join(' '),
      security: schema.security ?? (access === 'public' ? [] : [{ session: [] }]),
      response: { ...errors, ...schema.response },
    },
  };
}

/** `PATCH /v1/agents/:id/status` → `patchAgentsIdStatus`: what generated clients call it. */
const operationId = (method: string, url: string): string =>
  method.toLowerCase() +
  url
    .replace(/^\/v1\//, '')
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
