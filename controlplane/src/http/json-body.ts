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
        const text = bytes.toString();
        void parseJson(request, text, (error, body) => {
          if (error !== null)
            done(new InvalidInput('the body is not valid JSON, or has a field __proto__ or constructor'));
          else {
            const problem = findBodyProblem(text, body);
            done(problem === null ? null : new InvalidInput(problem), body);
          }
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

const SHOWN_CHARS_MAX = 100;

/** Why the body is rejected, as a text for the caller; null: it is not. `text` is the JSON of `body`. */
export function findBodyProblem(text: string, body: unknown): string | null {
  if (hasUnstorableText(body)) return 'text must not contain NUL characters or unpaired surrogates';
  const repeated = findRepeatedName(text);
  if (repeated === null) return null;
  return `the body has ${JSON.stringify(repeated.slice(0, SHOWN_CHARS_MAX))} twice in one object. Send it once.`;
}

/**
 * The first name that an object has twice; null: none. `JSON.parse` keeps the last value, other parsers the first, so a
 * proxy and this server could read different bodies. `text` is valid JSON.
 */
function findRepeatedName(text: string): string | null {
  /** Names of each open object; null for a list. */
  const levels: (Set<string> | null)[] = [];
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      const end = findStringEnd(text, at);
      if (isName) {
        const name = JSON.parse(text.slice(at, end + 1)) as string;
        const names = levels.at(-1)!;
        if (names.has(name)) return name;
        names.add(name);
        isName = false;
      }
      at = end;
    } else if (char === '{' || char === '[') {
      isName = char === '{';
      levels.push(isName ? new Set() : null);
    } else if (char === '}' || char === ']') {
      levels.pop();
      isName = false;
    } else if (char === ',') isName = levels.at(-1) !== null;
  }
  return null;
}

/** Position of the quotation mark that ends the string which begins at `start`. */
function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let at = end;
    while (text[at - 1] === '\\') at--;
    if ((end - at) % 2 === 0) return end;
  }
}

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
