/**
 * Parses request bodies (docs/contract.md#management-api): JSON only. A route without a body accepts no body, an empty
 * one or `{}`, because many clients send `Content-Type: application/json` with every request. Any other body there is
 * rejected, not ignored.
 */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { InvalidInput } from '../domain/errors.js';

export function addJsonBodyParsing(app: FastifyInstance): void {
  app.removeContentTypeParser('text/plain');
  const parseJson = app.getDefaultJsonParser('error', 'error');
  // RFC 7644 §8.1: directories send JSON under a name of its own.
  app.addContentTypeParser(
    ['application/json', 'application/scim+json'],
    { parseAs: 'buffer' },
    (request, bytes, done) => {
      if (bytes.length === 0) done(null, undefined);
      // Decoding replaces each wrong byte by the same character.
      else if (!isUtf8(bytes as Buffer)) done(new InvalidInput('the body is not UTF-8'));
      else {
        void parseJson(request, bytes.toString(), (error, body) => {
          if (error !== null)
            done(new InvalidInput('the body is not valid JSON, or has a field __proto__ or constructor'));
          else if (hasUnstorableText(body)) {
            done(new InvalidInput('text must not contain NUL characters or unpaired surrogates'));
          } else done(null, body);
        });
      }
    },
  );
  app.addHook('preValidation', async (request) => {
    assertKnownQuery(request);
    if (request.routeOptions.schema?.body !== undefined) {
      if (request.body !== undefined) return;
      if (request.routeOptions.config.bodyOptional !== true) {
        throw new InvalidInput('the body is empty. Send a JSON object.');
      }
      request.body = {};
    } else if (!isBodyEmpty(request)) throw new InvalidInput('this endpoint does not accept a body');
  });
}

/** A misspelled filter must fail, not return everything. */
function assertKnownQuery({ query, routeOptions }: FastifyRequest): void {
  if (!routeOptions.url?.startsWith('/v1/')) return;
  const known = (routeOptions.schema?.querystring as { properties?: object } | undefined)?.properties ?? {};
  for (const name of Object.keys(query as object)) {
    if (!Object.hasOwn(known, name)) throw new InvalidInput(`unknown query parameter ${JSON.stringify(name)}`);
  }
}

const isBodyEmpty = ({ body }: FastifyRequest): boolean =>
  body === undefined || body === null || (typeof body === 'object' && Object.keys(body).length === 0);

const UNSTORABLE = /\u0000|\p{Surrogate}/u;

/**
 * JSON can contain characters that Postgres and UTF-8 cannot represent. Iterative, because a body may be nested very
 * deeply.
 */
export function hasUnstorableText(body: unknown): boolean {
  const left: unknown[] = [body];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string') {
      if (UNSTORABLE.test(value)) return true;
    } else if (Array.isArray(value)) {
      for (const child of value) left.push(child);
    } else if (typeof value === 'object' && value !== null) {
      for (const key of Object.keys(value)) left.push(key, (value as Record<string, unknown>)[key]);
    }
  }
  return false;
}
