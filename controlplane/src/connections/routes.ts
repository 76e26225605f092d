import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { SessionCookie } from '../auth/sessions/session-cookie.js';
import { Ok } from '../auth/users/auth-schema.js';
import { NotFound } from '../domain/errors.js';
import type { App } from '../http/app.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { IdParams } from '../http/schema.js';
import { CONNECT_PAGE, CONNECT_PAGE_POLICY } from './callback-page.js';
import { buildClientDocument, DOCUMENT_PATH } from './client-document.js';
import type { ConnectCookie } from './connect-cookie.js';
import { CALLBACK_PATH, type ConnectionService } from './connection-service.js';
import { ConnectionInput, ConnectionReply, ConnectReply } from './schema.js';

interface ConnectionServices {
  readonly connections: ConnectionService;
  readonly sessionCookie: SessionCookie;
  readonly connectCookie: ConnectCookie;
}

const TARGETS = [
  { kind: 'account', path: '/v1/providers/accounts/:id', suffix: 'Account', name: 'a provider account' },
  { kind: 'credential', path: '/v1/credentials/:id', suffix: 'Credential', name: 'a shared credential' },
] as const;

export function connectionRoutes(app: App, { connections, sessionCookie, connectCookie }: ConnectionServices): void {
  const setCookie = (reply: FastifyReply, secret: string | null) =>
    reply.header('set-cookie', connectCookie.serializeSetCookie(secret));
  for (const { kind, path, suffix, name } of TARGETS) {
    app.post(
      `${path}/connect`,
      {
        config: { access: 'admin', tokens: false },
        schema: {
          ...operation('Accounts', `connect${suffix}`, `Begin to connect ${name} at its provider`),
          description: 'Only for pages of this service: the connection is bound to the browser by a cookie.',
          params: IdParams,
          response: { 200: ConnectReply },
        },
      },
      async (request, reply) => {
        sessionCookie.assertSameOrigin(request);
        const { url, secret } = await connections.start(request.actor, { kind, id: request.params.id });
        void setCookie(reply, secret);
        return { url };
      },
    );
    app.post(
      `${path}/disconnect`,
      {
        config: { access: 'admin', project: { params: { id: kind } } },
        schema: {
          ...operation('Accounts', `disconnect${suffix}`, `Disconnect ${name} and revoke its grant at the provider`),
          params: IdParams,
          response: { 200: Ok },
        },
      },
      async ({ actor, params }) => {
        await connections.disconnect(actor, { kind, id: params.id });
        return { ok: true as const };
      },
    );
  }
  app.post(
    '/v1/connections',
    {
      config: { access: 'admin', tokens: false },
      schema: {
        ...operation('Accounts', 'finishConnection', 'Finish a connection with the answer of the provider'),
        description: 'Called by the page of the callback.',
        body: ConnectionInput,
        response: { 200: ConnectionReply },
      },
    },
    async (request, reply) => {
      sessionCookie.assertSameOrigin(request);
      const { kind, id } = await connections.finish(request.actor, request.body, connectCookie.readSecret(request));
      void setCookie(reply, null);
      return {
        ok: true as const,
        accountId: kind === 'account' ? id : null,
        credentialId: kind === 'credential' ? id : null,
      };
    },
  );
  app.get(
    DOCUMENT_PATH,
    { schema: { params: Type.Object({ owner: Type.String(), slug: Type.String() }) } },
    async ({ params }, reply) => {
      const document = buildClientDocument(connections.publicUrl, params.owner, params.slug);
      if (document === null) throw new NotFound('client document');
      return reply
        .header('cache-control', 'public, max-age=3600')
        .type('application/json; charset=utf-8')
        .send(JSON.stringify(document));
    },
  );
  app.get(
    CALLBACK_PATH,
    { schema: { params: Type.Object({ owner: Type.String(), slug: Type.String() }) } },
    async (_request, reply) =>
      reply
        .header('content-security-policy', CONNECT_PAGE_POLICY)
        .header('cache-control', 'no-store')
        .header('referrer-policy', 'no-referrer')
        .type('text/html; charset=utf-8')
        .send(CONNECT_PAGE),
  );
}
