/**
 * The HTTP server of /v1: limits, validation, authentication, errors, headers. Features register their routes on it.
 */
import type { Logger } from '@acg/base/log';
import { uuidv7 } from '@acg/base/uuidv7';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import {
  isDatabaseUnavailable,
  isForeignKeyViolation,
  isTransactionConflict,
  isUnstorableText,
} from '../db/postgres-client.js';
import { AppError, Conflict, RequestInProgress, TooManyAttempts } from '../domain/errors.js';
import { HTTP_STATUS_BY_ERROR_CODE } from './error-statuses.js';
import { addJsonBodyParsing } from './json-body.js';
import { rejectMalformedRequest } from './malformed-request.js';
import { addRequestSlots } from './org-request-slots.js';
import { recordRoutes } from './record-declared-routes.js';
import { schemaErrorFormatter, validatorCompiler } from './request-validation.js';
import { serializerCompiler } from './response-serialization.js';
import type { Access, Actor } from './route-access.js';
import { addSecurityHeaders } from './security-headers.js';
import { addWriteRateLimit } from './write-rate-limit.js';

export type App = ReturnType<typeof createApp>;

const BODY_BYTES_MAX = 1_048_576;
const REQUEST_TIMEOUT_MS = 60_000;
/**
 * For the whole head of a request. The first byte of a connection has a shorter timeout (http/connection-limits.ts).
 */
const HEAD_TIMEOUT_MS = 20_000;
/** Timeout without a byte in either direction. Longer than any response takes; ends clients that stop reading. */
const IDLE_TIMEOUT_MS = 300_000;
const DATABASE_UNAVAILABLE_RETRY_AFTER_S = 2;
const CONFLICT_RETRY_AFTER_S = 1;
const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Authenticates a request and checks its access to the route. Throws an `AppError` if it has none. */
interface Authenticator {
  authenticateAndAuthorize(request: FastifyRequest, access: Exclude<Access, 'public'>): Promise<Actor>;
}

interface RequestMetrics {
  /** Counts one finished request. */
  observeRequest(request: FastifyRequest, reply: FastifyReply): void;
}

interface AppOptions {
  readonly log: Logger;
  readonly authenticator: Authenticator;
  readonly metrics: RequestMetrics;
  /** CIDRs of proxies whose X-Forwarded-For header is trusted. */
  readonly trustedProxyCidrs: readonly string[];
  readonly publicUrl: string;
  /** Handles a request without a matching route, or returns null for a 404 response. */
  readonly handleUnrouted: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | null;
}

export function createApp(options: AppOptions) {
  const app = Fastify({
    loggerInstance: options.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: IDLE_TIMEOUT_MS,
    http: { headersTimeout: HEAD_TIMEOUT_MS, connectionsCheckingInterval: HEAD_TIMEOUT_MS / 4 },
    // During shutdown, requests on open connections are still served; the connection closes after the response.
    return503OnClosing: false,
    genReqId: () => uuidv7(Date.now()),
    trustProxy: options.trustedProxyCidrs.length === 0 ? false : [...options.trustedProxyCidrs],
    schemaErrorFormatter,
    frameworkErrors: sendError,
    clientErrorHandler: rejectMalformedRequest,
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.decorateRequest('actor');
  app.decorateRequest('actorStale', false);
  app.decorateRequest('tenant', null);
  recordRoutes(app);
  addSecurityHeaders(app, options.publicUrl.startsWith('https:'));
  addJsonBodyParsing(app);
  // Runs before the body is read, because a body for an unknown route must not be validated.
  app.addHook('onRequest', async (request, reply) =>
    request.is404 ? (options.handleUnrouted(request, reply) ?? sendUnknownEndpoint(request, reply)) : undefined,
  );
  app.addHook('onRequest', async (request) => {
    const access = request.routeOptions.config.access ?? 'public';
    if (access === 'public') return;
    request.actor = await options.authenticator.authenticateAndAuthorize(request, access);
    const { orgId, userId, token } = request.actor;
    request.tenant = { orgId, callerId: token?.id ?? userId };
    // A complete request needs no second check: its sender cannot have delayed the body after the rights were read.
    request.actorStale = !request.raw.complete;
  });
  addWriteRateLimit(app);
  addRequestSlots(app);
  app.addHook('preHandler', async (request) => {
    const { access = 'public' } = request.routeOptions.config;
    if (access === 'public' || !request.actorStale || READ_METHODS.has(request.method)) return;
    const { orgId } = request.actor;
    request.actor = await options.authenticator.authenticateAndAuthorize(request, access);
    if (request.actor.orgId !== orgId)
      throw new Conflict('the session switched to another organization during the request. Retry the request.');
  });
  app.addHook('onResponse', async (request, reply) => {
    options.metrics.observeRequest(request, reply);
    // Logs the route pattern, not the URL: a query string may contain secrets that were pasted by mistake.
    const { method, routeOptions } = request;
    const fields = { requestId: request.id, method, route: routeOptions.url, status: reply.statusCode };
    request.log.debug({ ...fields, durationMs: Math.round(reply.elapsedTime) }, 'request');
  });
  app.setErrorHandler((error: FastifyError | AppError, request, reply) => sendError(error, request, reply));
  app.setNotFoundHandler(sendUnknownEndpoint);
  return app;
}

const sendUnknownEndpoint = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  reply.code(404).send({ error: `no such endpoint: ${request.method} ${request.url.split('?')[0]}` });

/** Our messages for errors of Fastify; they say how to correct the request. */
const FASTIFY_MESSAGES: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'the body must be JSON. Send the header Content-Type: application/json.',
  FST_ERR_CTP_BODY_TOO_LARGE: `the body is larger than ${BODY_BYTES_MAX} bytes`,
  FST_ERR_BAD_URL:
    'the path contains an invalid percent-encoding. Use % followed by two hexadecimal digits of UTF-8 text.',
  FST_ERR_MAX_PARAM_LENGTH: 'an id in the path is too long. Ids are UUIDs.',
};

/** These statuses become 400, the one status for invalid requests (docs/contract.md#management-api). */
const VALIDATION_STATUSES: ReadonlySet<number> = new Set([414, 415]);

function sendAppError(error: AppError, reply: FastifyReply): void {
  if (error instanceof TooManyAttempts || error instanceof RequestInProgress) {
    void reply.header('retry-after', String(error.retryAfterSeconds));
  }
  if (error.code === 'unauthenticated') void reply.header('www-authenticate', 'Bearer');
  void reply.code(HTTP_STATUS_BY_ERROR_CODE[error.code]).send({ error: error.message, ...error.details });
}

function sendError(error: FastifyError | AppError, request: FastifyRequest, reply: FastifyReply): void {
  if (error instanceof AppError) {
    sendAppError(error, reply);
    return;
  }
  if (isUnstorableText(error)) {
    void reply.code(400).send({ error: 'text must not contain NUL characters' });
    return;
  }
  if (isDatabaseUnavailable(error)) {
    request.log.warn(
      { err: error, requestId: request.id, route: request.routeOptions.url },
      'the database is unavailable',
    );
    void reply.code(503).header('retry-after', String(DATABASE_UNAVAILABLE_RETRY_AFTER_S));
    void reply.send({ error: 'the database is unavailable. Retry in a few seconds.' });
    return;
  }
  const route = { requestId: request.id, route: request.routeOptions.url };
  if (isTransactionConflict(error)) {
    request.log.warn({ err: error, ...route }, 'request rolled back by a conflicting transaction');
    void reply.code(503).header('retry-after', String(CONFLICT_RETRY_AFTER_S));
    void reply.send({ error: 'the request conflicted with a concurrent change. Retry the request.' });
    return;
  }
  if (isForeignKeyViolation(error)) {
    request.log.warn({ err: error, ...route }, 'request refers to an object that was deleted meanwhile');
    void reply.code(409).send({ error: 'an object that this request refers to was deleted at the same time' });
    return;
  }
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) {
    void reply
      .code(VALIDATION_STATUSES.has(status) ? 400 : status)
      .send({ error: FASTIFY_MESSAGES[error.code] ?? error.message });
    return;
  }
  request.log.error({ err: error, requestId: request.id, route: request.routeOptions.url }, 'request failed');
  void reply.code(500).send({ error: `internal error, request ${request.id}` });
}
