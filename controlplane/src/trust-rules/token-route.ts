/** `POST /v1/token`: form parameters and errors of RFC 6749 and RFC 8693. JSON with the same fields works, too. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, TooManyAttempts } from '../domain/errors.js';
import type { App } from '../http/app.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import type { Throttle } from '../throttling/throttle.js';
import { TokenErrorReply, TokenInput, TokenReply } from './schema.js';
import { TokenError, type TokenExchange } from './token-exchange.js';

const BODY_BYTES_MAX = 65_536;
const PARAMETERS_MAX = 50;
const RETRY_AFTER_S = 60;
const FORM = 'application/x-www-form-urlencoded';
/** RFC 6749 §5.2 allows these characters in a description. */
const NOT_IN_DESCRIPTIONS = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;

export function tokenRoute(app: App, exchange: TokenExchange, throttle: Throttle): void {
  // A scope of its own: no other route accepts forms.
  void app.register(async (scope) => {
    scope.addContentTypeParser(FORM, { parseAs: 'string', bodyLimit: BODY_BYTES_MAX }, (_request, text, done) => {
      try {
        done(null, parseForm(text as string));
      } catch (error) {
        done(error as Error);
      }
    });
    scope.post(
      '/v1/token',
      {
        config: { access: 'public' },
        bodyLimit: BODY_BYTES_MAX,
        onRequest: (request) => throttle.throttleExchange(request.ip),
        errorHandler: sendTokenError,
        schema: {
          ...operation('Trust rules', 'exchangeToken', 'Exchange a workload’s token for a gateway key (RFC 8693)'),
          description: 'Errors have the form of RFC 6749 §5.2. 429 and 503 state Retry-After.',
          consumes: [FORM, 'application/json'],
          body: TokenInput,
          response: { 200: TokenReply, 400: TokenErrorReply, 429: TokenErrorReply, 503: TokenErrorReply },
        },
      },
      async (request, reply) => {
        void reply.header('cache-control', 'no-store');
        return exchange.exchange(request.body as TokenInput, request.ip);
      },
    );
  });
}

/** RFC 6749 §3.2: a parameter occurs once; one without a value counts as missing. */
function parseForm(text: string): Record<string, string> {
  const fields: Record<string, string> = Object.create(null) as Record<string, string>;
  const parameters = [...new URLSearchParams(text)];
  if (parameters.length > PARAMETERS_MAX)
    throw new TokenError('invalid_request', `the body has more than ${PARAMETERS_MAX} parameters`);
  const seen = new Set<string>();
  for (const [name, value] of parameters) {
    if (seen.has(name)) throw new TokenError('invalid_request', 'a parameter occurs more than once');
    seen.add(name);
    // Unknown parameters are ignored.
    if (value !== '' && Object.hasOwn(TokenInput.properties, name)) fields[name] = value;
  }
  return { ...fields };
}

function sendTokenError(error: FastifyError, _request: FastifyRequest, reply: FastifyReply): void {
  void reply.header('cache-control', 'no-store');
  const send = (status: number, code: string, text: string) =>
    reply.code(status).send({ error: code, error_description: text.replaceAll(NOT_IN_DESCRIPTIONS, "'") });
  if (error instanceof TokenError) {
    if (error.code === 'temporarily_unavailable') void reply.header('retry-after', String(RETRY_AFTER_S));
    void send(error.code === 'temporarily_unavailable' ? 503 : 400, error.code, error.message);
  } else if (error instanceof TooManyAttempts) {
    void reply.header('retry-after', String(error.retryAfterSeconds));
    void send(429, 'slow_down', error.message);
  } else if (error instanceof AppError || (error.statusCode ?? 500) < 500) {
    void send(400, 'invalid_request', error.message);
  } else throw error;
}
