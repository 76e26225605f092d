/**
 * Builds the OpenAPI 3.1 document of the management API from the declared routes: the schemas that validate requests
 * and serialise responses are the documented ones.
 */

import type { Access } from '@acg/controlplane/http/route-access';
import type { RouteEntry } from '@acg/controlplane/http/route-table';
import { ErrorReply } from '@acg/controlplane/http/schema';
import { acceptsIdempotencyKey } from '@acg/controlplane/idempotency/idempotency';
import { CSV_HEADER } from '@acg/controlplane/reports/log-record/row-formats';
import { ERRORS, listErrorStatuses } from './error-statuses.js';
import { ExampleBuilder } from './example-builder.js';
import { OPERATIONS, type Operation, TAGS } from './operations.js';
import { type JsonNode, SchemaRegistry } from './schema-registry.js';
import { createWebhooksSection } from './webhook-events.js';

export interface OpenApiResult {
  readonly document: JsonNode;
  /** Missing parts, one line each, with the place to add them. */
  readonly problems: readonly string[];
}

const ACCESS_TEXT: Readonly<Record<Access, string>> = {
  public: 'No session needed.',
  session: 'Any session, whatever the role.',
  viewer: 'Role: viewer or higher.',
  member: 'Role: member or higher.',
  admin: 'Role: admin or owner.',
  owner: 'Role: owner.',
};

const INFO = {
  title: 'Agent Credential Gateway',
  summary: 'Agents hold one gateway token; the gateway holds the credentials, the limits and the bill.',
  description:
    'The management API: organizations, agents, gateway tokens, provider accounts, usage, webhooks. ' +
    'Bodies are JSON; unknown fields are refused. Times are ISO 8601 in UTC, money is in US cents. Lists take ' +
    '`limit` and `offset`. Every error is `{"error": "…"}`, and every answer has the header X-Request-Id.',
};

const SECURITY_SCHEMES = {
  session: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The token of a person’s session, from login; refused after logout.',
  },
  managementToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'acgm_…',
    description: 'A management token, for programs.',
  },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-acg_session',
    description:
      'The session of a browser (acg_session where the gateway is served over plain http). Writes with it are taken ' +
      'from pages of the gateway only.',
  },
};

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same call with the same key again gets the first answer again, and nothing happens twice.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

export function generateOpenApiDocument(
  routes: readonly RouteEntry[],
  exported: ReadonlyMap<object, string>,
  version: string,
): OpenApiResult {
  const schemas = new SchemaRegistry(exported);
  const shown = new Set<string>();
  const parts: DocumentBuilder = { schemas, shown };
  const paths: Record<string, JsonNode> = {};
  const problems: string[] = [];
  for (const route of routes) {
    const name = `${route.method} ${route.url}`;
    if (name === 'GET /v1/openapi.json') continue; // the document itself
    const operation = OPERATIONS[name] ?? placeholderOperation(route);
    if (OPERATIONS[name] === undefined) {
      problems.push(`add '${name}' to OPERATIONS in test/src/openapi/operations.ts`);
    }
    const path = route.url.replace(/:([A-Za-z]+)/g, '{$1}');
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = createOperation(route, operation, parts);
  }
  const names = new Set(routes.map(({ method, url }) => `${method} ${url}`));
  const gone = Object.keys(OPERATIONS).filter((name) => !names.has(name));
  problems.push(...gone.map((name) => `OPERATIONS in test/src/openapi/operations.ts has no route '${name}'`));
  const described = createWebhooksSection(schemas);
  schemas.reference(ErrorReply);
  const examples = new ExampleBuilder(schemas.components);
  const components = {
    schemas: sortKeys(schemas.components),
    examples: Object.fromEntries([...shown].sort().map((name) => [name, { value: examples.exampleOf(name) }])),
    responses: Object.fromEntries(
      Object.entries(ERRORS).map(([status, error]) => [error.name, createResponse(Number(status))]),
    ),
    parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
    headers: {
      RetryAfter: { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0 } },
      RequestId: { description: 'Names this call in the logs of the gateway.', schema: { type: 'string' } },
    },
    securitySchemes: SECURITY_SCHEMES,
  };
  const tags = Object.entries(TAGS).map(([name, description]) => ({ name, description }));
  const servers = [{ url: 'https://gateway.example', description: 'Where your control plane is.' }];
  return {
    document: {
      openapi: '3.1.0',
      info: { ...INFO, version },
      servers,
      tags,
      paths: sortKeys(paths),
      webhooks: described,
      components,
    },
    problems: [...problems, ...schemas.problems, ...examples.problems],
  };
}

const sortKeys = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

function createResponse(status: number): JsonNode {
  const { description, example } = ERRORS[status]!;
  const waits = status === 429 || status === 503;
  return {
    description,
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      ...(waits ? { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } : {}),
    },
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/ErrorReply' }, example: { error: example } },
    },
  };
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, JsonNode>>;
  readonly required?: readonly string[];
}

function parameters(schema: unknown, place: 'path' | 'query', schemas: SchemaRegistry): JsonNode[] {
  const { properties = {}, required = [] } = (schema ?? {}) as ObjectSchema;
  return Object.entries(properties).map(([name, field]) => {
    const { description, ...rest } = schemas.reference(field);
    return {
      name,
      in: place,
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

/** A missing name must not break clients for other types; the problems list reports it. */
const placeholderOperation = ({ method, url }: RouteEntry): Operation => ({
  id:
    method.toLowerCase() +
    url
      .split(/[^A-Za-z0-9]+/)
      .map(pascal)
      .join(''),
  tag: 'Installation',
  summary: `${method} ${url}`,
});

const pascal = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1);

interface DocumentBuilder {
  readonly schemas: SchemaRegistry;
  /** Names of the types that requests or responses use. */
  readonly shown: Set<string>;
}

/** By reference: the type and its one example. */
function createJsonContent({ schemas, shown }: DocumentBuilder, schema: object, fallback: string): JsonNode {
  const written = schemas.reference(schema, fallback);
  const name = String(written.$ref).slice('#/components/schemas/'.length);
  shown.add(name);
  return { schema: written, examples: { example: { $ref: `#/components/examples/${name}` } } };
}

function createOperation(route: RouteEntry, operation: Operation, parts: DocumentBuilder): JsonNode {
  const { schemas } = parts;
  const { schema = {}, access, tokens } = route;
  const { id, tag, summary, statuses = [], csv } = operation;
  const { description, body, params, querystring, security } = schema as JsonNode;
  const answers: Record<string, JsonNode> = {};
  for (const [status, answer] of Object.entries((schema.response ?? {}) as Record<string, object>)) {
    const success = status.startsWith('2');
    const content: JsonNode = {
      'application/json': createJsonContent(parts, answer, `${pascal(id)}${success ? 'Reply' : `Error${status}`}`),
    };
    if (success && csv === true) content['text/csv'] = { schema: { type: 'string' }, example: CSV_HEADER };
    answers[status] = { description: success ? summary : ERRORS[Number(status)]!.description, content };
  }
  for (const status of [...listErrorStatuses(route), ...statuses].sort()) {
    answers[status] ??= { $ref: `#/components/responses/${ERRORS[status]!.name}` };
  }
  const allParameters = [
    ...parameters(params, 'path', schemas),
    ...parameters(querystring, 'query', schemas),
    ...(acceptsIdempotencyKey(route) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, ACCESS_TEXT[access]].filter(Boolean).join(' '),
    security: security ?? createSecurity(access, tokens),
    ...(allParameters.length === 0 ? {} : { parameters: allParameters }),
    ...(body === undefined ? {} : { requestBody: requestBody(route, id, parts) }),
    responses: answers,
  };
}

function createSecurity(access: RouteEntry['access'], tokens: boolean): JsonNode[] {
  if (access === 'public') return [];
  const people: JsonNode[] = [{ session: [] }, { cookie: [] }];
  return access === 'session' || !tokens ? people : [{ managementToken: [] }, ...people];
}

function requestBody({ schema, bodyOptional }: RouteEntry, id: string, parts: DocumentBuilder): JsonNode {
  const content = { 'application/json': createJsonContent(parts, schema!.body as object, `${pascal(id)}Input`) };
  return { required: !bodyOptional, content };
}
