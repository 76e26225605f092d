/**
 * Builds the OpenAPI 3.1 document of the management API with @fastify/swagger from the declared routes: the schemas that
 * validate requests and serialise responses are the documented ones. This file adds what follows from the rest of a
 * route's declaration: names of schemas, access, errors and examples.
 */

import { API_TAGS } from '@acg/controlplane/http/operation-id-tag-and-summary';
import type { RouteEntry } from '@acg/controlplane/http/record-declared-routes';
import type { Access } from '@acg/controlplane/http/route-access';
import { ErrorReply } from '@acg/controlplane/http/schema';
import { acceptsIdempotencyKey } from '@acg/controlplane/idempotency/idempotency';
import {
  ACCESS_TEXTS,
  ERROR_TEXTS,
  IDEMPOTENCY_KEY,
  INFO,
  RESPONSE_HEADERS,
  SECURITY_SCHEMES,
  SERVERS,
} from '@acg/controlplane/reference/openapi-document-texts';
import { CSV_HEADER } from '@acg/controlplane/reports/log-record/csv-and-json-row-sql';
import swagger from '@fastify/swagger';
import Fastify from 'fastify';
import { listErrorStatuses } from './derive-error-statuses.js';
import { ExampleBuilder } from './example-builder.js';
import { type JsonNode, type SchemaModules, SchemaRegistry } from './schema-registry.js';
import { createWebhooksSection } from './webhook-events.js';

export interface OpenApiResult {
  readonly document: JsonNode;
  /** Missing parts, one line each, with the place to add them. */
  readonly problems: readonly string[];
}

export async function generateOpenApiDocument(
  routes: readonly RouteEntry[],
  modules: SchemaModules,
  version: string,
): Promise<OpenApiResult> {
  const schemas = new SchemaRegistry(modules.nameBySchema);
  const app = Fastify();
  // The routes of this app are only documented, never called.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => () => '');
  const operations = new Map<string, RouteEntry>();
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { ...INFO, version },
      servers: SERVERS,
      tags: Object.entries(API_TAGS).map(([name, description]) => ({ name, description })),
      components: { securitySchemes: SECURITY_SCHEMES },
    },
    convertConstToEnum: false,
  });
  for (const route of routes) {
    if (route.schema?.hide === true) continue;
    operations.set(route.schema!.operationId!, route);
    app.route({
      method: route.method,
      url: route.url,
      schema: describeOperation(route, schemas),
      handler: async () => null,
    });
  }
  await app.ready();
  const { openapi, info, servers, tags, paths } = app.swagger() as unknown as SwaggerOutput;
  await app.close();
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods)))
    completeOperation(operation, operations.get(operation.operationId)!);
  const webhooks = createWebhooksSection(schemas);
  schemas.reference(ErrorReply);
  const examples = new ExampleBuilder(schemas.components, modules.examples);
  const components = {
    schemas: sortKeys(schemas.components),
    examples: buildExamples(paths, examples),
    responses: Object.fromEntries(
      Object.entries(ERROR_TEXTS).map(([status, { name }]) => [name, createErrorResponse(Number(status))]),
    ),
    parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
    headers: RESPONSE_HEADERS,
    securitySchemes: SECURITY_SCHEMES,
  };
  return {
    document: { openapi, info, servers, tags, paths: sortKeys(paths), webhooks, components },
    problems: [...modules.problems, ...schemas.problems, ...examples.problems],
  };
}

/** The part of the plugin's output that is completed here. */
interface SwaggerOutput {
  readonly openapi: string;
  readonly info: object;
  readonly servers: readonly object[];
  readonly tags: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, SwaggerOperation>>>>;
}

interface SwaggerOperation {
  readonly operationId: string;
  readonly summary: string;
  parameters?: JsonNode[];
  readonly requestBody?: { required?: boolean; readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Record<string, { $ref: string } | DocumentedResponse>;
}

interface DocumentedResponse {
  description: string;
  readonly content: Record<string, MediaType>;
}

interface MediaType {
  readonly schema: { readonly $ref?: string; readonly type?: string };
  example?: unknown;
  examples?: unknown;
}

const sortKeys = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

const pascal = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1);

/** The route's schema with references to named schemas. */
function describeOperation({ schema, access, tokens }: RouteEntry, schemas: SchemaRegistry) {
  const { operationId, tags, summary, consumes, produces, params, querystring, body, response, description, security } =
    schema!;
  const name = pascal(operationId!);
  const answers = Object.entries((response ?? {}) as Record<string, object>).map(([status, answer]) => [
    status,
    schemas.reference(answer, `${name}${status.startsWith('2') ? 'Reply' : `Error${status}`}`),
  ]);
  return {
    operationId: operationId!,
    tags: tags!,
    summary: summary!,
    description: [description, ACCESS_TEXTS[access]].filter(Boolean).join(' '),
    security: security ?? createSecurity(access, tokens),
    ...(consumes === undefined ? {} : { consumes }),
    ...(produces === undefined ? {} : { produces }),
    ...(params === undefined ? {} : { params: schemas.inline(params) }),
    ...(querystring === undefined ? {} : { querystring: schemas.inline(querystring) }),
    ...(body === undefined ? {} : { body: schemas.reference(body as object, `${name}Input`) }),
    response: Object.fromEntries(answers),
  };
}

function createSecurity(access: Access, tokens: boolean): Record<string, readonly string[]>[] {
  if (access === 'public') return [];
  const people = [{ session: [] }, { cookie: [] }];
  return access === 'session' || !tokens ? people : [{ managementToken: [] }, ...people];
}

/** Adds errors, examples and the idempotency key, in place. */
function completeOperation(operation: SwaggerOperation, route: RouteEntry): void {
  const { responses, requestBody } = operation;
  for (const [status, response] of Object.entries(responses) as [string, DocumentedResponse][]) {
    response.description = status.startsWith('2') ? operation.summary : ERROR_TEXTS[Number(status)]!.description;
    for (const [type, content] of Object.entries(response.content)) {
      if (type === 'text/csv') response.content[type] = { schema: { type: 'string' }, example: CSV_HEADER };
      else referenceExample(content);
    }
  }
  for (const status of listErrorStatuses(route))
    responses[status] ??= { $ref: `#/components/responses/${ERROR_TEXTS[status]!.name}` };
  if (requestBody !== undefined) {
    requestBody.required = !route.bodyOptional;
    for (const content of Object.values(requestBody.content)) referenceExample(content);
  }
  const parameters = (operation.parameters ?? []).map(({ name, schema, ...rest }) => ({ name, ...rest, schema }));
  const key = acceptsIdempotencyKey(route) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : [];
  if (parameters.length + key.length > 0) operation.parameters = [...parameters, ...key];
}

const schemaName = ({ schema }: MediaType): string => schema.$ref!.slice(schema.$ref!.lastIndexOf('/') + 1);

/** A type has one example. */
function referenceExample(content: MediaType): void {
  content.examples = { example: { $ref: `#/components/examples/${schemaName(content)}` } };
}

/** The examples of the types that requests or responses use. */
function buildExamples(paths: SwaggerOutput['paths'], builder: ExampleBuilder): JsonNode {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const contents = operations.flatMap(({ requestBody, responses }) =>
    [requestBody, ...Object.values(responses)].flatMap((part) =>
      part !== undefined && 'content' in part ? Object.values(part.content) : [],
    ),
  );
  const names = contents.filter(({ examples }) => examples !== undefined).map(schemaName);
  return sortKeys(Object.fromEntries(names.map((name) => [name, { value: builder.exampleOf(name) }])));
}

function createErrorResponse(status: number): JsonNode {
  const { description, example } = ERROR_TEXTS[status]!;
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
