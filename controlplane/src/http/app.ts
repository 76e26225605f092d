/** The HTTP server of /v1: limits, validation, authentication, errors. Features add their routes to it. */
import type { Logger } from '@acg/base/log';
import { uuidv7 } from '@acg/base/uuidv7';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyBaseLogger, type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify';
import { AppError, TooManyAttempts } from '../errors.js';
import type { Authenticator } from './authenticate.js';
import { STATUS_OF } from './error-map.js';
import { schemaErrorFormatter, validatorCompiler } from './validation.js';

export type App = ReturnType<typeof createApp>;

const BODY_BYTES_MAX = 1_048_576;
const REQUEST_TIMEOUT_MS = 60_000;

export interface AppOptions {
  readonly log: Logger;
  readonly authenticator: Authenticator;
  /** Peers whose X-Forwarded-For is believed. */
  readonly trustedProxyCidrs: readonly string[];
}

export function createApp(options: AppOptions) {
  const app = Fastify({
    loggerInstance: options.log as FastifyBaseLogger,
    disableRequestLogging: true,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    genReqId: () => uuidv7(Date.now()),
    trustProxy: options.trustedProxyCidrs.length === 0 ? false : [...options.trustedProxyCidrs],
    schemaErrorFormatter,
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.decorateRequest('actor');
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith('/v1/') && route.config?.access === undefined) {
      throw new Error(`${String(route.method)} ${route.url} declares no access`);
    }
  });
  app.addHook('onRequest', async (request) => {
    const access = request.routeOptions.config.access ?? 'public';
    if (access !== 'public') request.actor = await options.authenticator.authenticate(request, access);
  });
  app.setErrorHandler((error: FastifyError | AppError, request, reply) => answerError(error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    void reply.code(404).send({ error: `no such endpoint: ${request.method} ${request.url.split('?')[0]}` });
  });
  return app;
}

function answerError(error: FastifyError | AppError, request: FastifyRequest, reply: FastifyReply): void {
  if (error instanceof AppError) {
    if (error instanceof TooManyAttempts) void reply.header('retry-after', String(error.retryAfterSeconds));
    void reply.code(STATUS_OF[error.code]).send({ error: error.message });
    return;
  }
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) {
    // Fastify's own: malformed JSON, body too large, unsupported media type.
    void reply.code(status === 415 ? 400 : status).send({ error: error.message });
    return;
  }
  request.log.error({ err: error, requestId: request.id, route: request.routeOptions.url }, 'request failed');
  void reply.code(500).send({ error: `internal error, request ${request.id}` });
}
