/** Public routes with the API's description: as JSON, as a page and as text. They change only with a release. */
import { Type } from 'typebox';
import type { App } from '../http/app.js';
import { renderLlmsText } from './llms-text.js';
import { type ApiDocument, readApiDocument } from './read-openapi-json.js';
import { REFERENCE_CSP, renderReferencePage } from './reference-page.js';

const CACHE_CONTROL = 'public, max-age=300';

export function referenceRoutes(app: App, publicUrl: string): void {
  const made = new Map<string, string>();
  /** Rendered at the first request, so that a faulty openapi.json does not prevent the process from rewriting it. */
  const once = (name: string, make: (document: ApiDocument) => string): string => {
    const text = made.get(name) ?? make(readApiDocument(publicUrl));
    made.set(name, text);
    return text;
  };
  app.get(
    '/v1/openapi.json',
    {
      config: { access: 'public' },
      schema: { hide: true, response: { 200: Type.Object({}, { additionalProperties: true }) } },
    },
    async (_request, reply) =>
      reply
        .header('cache-control', CACHE_CONTROL)
        .type('application/json; charset=utf-8')
        .send(once('json', (document) => JSON.stringify(document)) as unknown as object), // sent without a serializer
  );
  app.get('/docs', async (_request, reply) =>
    reply
      .header('cache-control', CACHE_CONTROL)
      .header('content-security-policy', REFERENCE_CSP)
      .type('text/html; charset=utf-8')
      .send(once('page', renderReferencePage)),
  );
  app.get('/llms.txt', async (_request, reply) =>
    reply.header('cache-control', CACHE_CONTROL).type('text/plain; charset=utf-8').send(once('text', renderLlmsText)),
  );
}
