/** The API's own description, public: as data, as a page and as text. All three change with a release only. */
import { Type } from 'typebox';
import type { App } from '../http/app.js';
import { type ApiDocument, readApiDocument } from './api-document.js';
import { renderLlmsText } from './llms-text.js';
import { REFERENCE_CSP, renderReferencePage } from './reference-page.js';

const CACHE_CONTROL = 'public, max-age=300';

export function referenceRoutes(app: App, publicUrl: string): void {
  const made = new Map<string, string>();
  /** Made when it is first asked for, so that the file can be written anew where it is broken. */
  const once = (name: string, make: (document: ApiDocument) => string): string => {
    const text = made.get(name) ?? make(readApiDocument(publicUrl));
    made.set(name, text);
    return text;
  };
  app.get(
    '/v1/openapi.json',
    { config: { access: 'public' }, schema: { response: { 200: Type.Object({}, { additionalProperties: true }) } } },
    async (_request, reply) =>
      reply
        .header('cache-control', CACHE_CONTROL)
        .type('application/json; charset=utf-8')
        .send(once('json', (document) => JSON.stringify(document)) as unknown as object), // as it is, by no serializer
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
