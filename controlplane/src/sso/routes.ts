import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { getClientInfo } from '../auth/authenticator.js';
import type { SessionCookie } from '../auth/sessions/session-cookie.js';
import { Ok, SecondFactorRejection } from '../auth/users/auth-schema.js';
import type { App } from '../http/app.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { Deleted, IdParams, Uuid } from '../http/schema.js';
import {
  CALLBACK_PAGE_POLICY,
  renderFailurePage,
  renderProveAccountPage,
  renderSignedInPage,
} from './callback-page.js';
import type { SsoLoginService } from './login-service.js';
import {
  DomainInput,
  DomainReply,
  LinkInput,
  SsoInput,
  SsoSettings,
  SsoTestReply,
  StartInput,
  StartReply,
} from './schema.js';
import type { SsoSettingsService } from './settings-service.js';
import type { SsoCookie } from './sso-cookie.js';
import type { SsoTestService } from './test-service.js';

interface SsoServices {
  readonly settings: SsoSettingsService;
  readonly tests: SsoTestService;
  readonly logins: SsoLoginService;
  readonly sessionCookie: SessionCookie;
  readonly ssoCookie: SsoCookie;
  /** The limit on requests that lead to a login. */
  readonly throttleHook: (request: FastifyRequest) => Promise<void>;
}

const DELETED = { deleted: true as const };

export function ssoRoutes(app: App, services: SsoServices): void {
  settingsRoutes(app, services);
  loginRoutes(app, services);
}

function settingsRoutes(app: App, { settings, tests }: SsoServices): void {
  const owner = { config: { access: 'owner', tokens: false } } as const;
  app.get(
    '/v1/sso',
    {
      config: { access: 'admin', tokens: false },
      schema: {
        ...operation('Single sign-on', 'getSso', 'Get the identity provider and the domains of the organization'),
        response: { 200: SsoSettings },
      },
    },
    async ({ actor }) => settings.get(actor),
  );
  app.put(
    '/v1/sso',
    {
      ...owner,
      schema: {
        ...operation('Single sign-on', 'configureSso', 'Set the identity provider of the organization'),
        description: 'Reads the discovery document. A new issuer or client ends the sessions of the previous one.',
        body: SsoInput,
        response: { 200: SsoSettings, 403: SecondFactorRejection },
      },
    },
    async ({ actor, body }) => settings.configure(actor, body),
  );
  app.delete(
    '/v1/sso',
    {
      ...owner,
      schema: {
        ...operation('Single sign-on', 'removeSso', 'Remove the identity provider and end its sessions'),
        errorStatuses: [404],
        response: { 200: Deleted, 403: SecondFactorRejection },
      },
    },
    async ({ actor }) => {
      await settings.remove(actor);
      return DELETED;
    },
  );
  app.post(
    '/v1/sso/test',
    {
      config: { access: 'admin', tokens: false },
      schema: {
        ...operation('Single sign-on', 'testSso', 'Test the identity provider and the settings without a login'),
        errorStatuses: [429],
        description:
          'Each step says what to do. A login is not tried: steps that only a login can answer have ok null.',
        response: { 200: SsoTestReply },
      },
    },
    async ({ actor }) => tests.test(actor),
  );
  app.post(
    '/v1/sso/domains',
    {
      ...owner,
      schema: {
        ...operation('Single sign-on', 'addSsoDomain', 'Add a domain of e-mail addresses'),
        errorStatuses: [409],
        body: DomainInput,
        response: { 201: DomainReply },
      },
    },
    async ({ actor, body }, reply) => reply.code(201).send({ domain: await settings.addDomain(actor, body.domain) }),
  );
  app.post(
    '/v1/sso/domains/:id/verify',
    {
      ...owner,
      schema: {
        ...operation('Single sign-on', 'verifySsoDomain', 'Look up the TXT record of a domain'),
        errorStatuses: [409],
        params: IdParams,
        response: { 200: DomainReply },
      },
    },
    async ({ actor, params }) => ({ domain: await settings.verifyDomain(actor, params.id) }),
  );
  app.delete(
    '/v1/sso/domains/:id',
    {
      ...owner,
      schema: {
        ...operation('Single sign-on', 'removeSsoDomain', 'Remove a domain'),
        params: IdParams,
        response: { 200: Deleted },
      },
    },
    async ({ actor, params }) => {
      await settings.removeDomain(actor, params.id);
      return DELETED;
    },
  );
}

function loginRoutes(app: App, { logins, sessionCookie, ssoCookie, throttleHook }: SsoServices): void {
  const setCookies = (reply: FastifyReply, session: string | null, sso: string | null) =>
    reply.header('set-cookie', [
      ssoCookie.serializeSetCookie(sso),
      ...(session === null ? [] : [sessionCookie.serializeSetCookie(session)]),
    ]);
  app.post(
    '/v1/sso/start',
    {
      config: { access: 'public' },
      onRequest: throttleHook,
      schema: {
        ...operation('Single sign-on', 'startSso', 'Begin a login by single sign-on'),
        errorStatuses: [403, 404, 429],
        description: 'Only for pages of this service: the login is bound to the browser by a cookie.',
        body: StartInput,
        response: { 200: StartReply },
      },
    },
    async (request, reply) => {
      sessionCookie.assertSameOrigin(request);
      const { url, secret } = await logins.start(request.body.email);
      void setCookies(reply, null, secret);
      return { url };
    },
  );
  app.post(
    '/v1/sso/link',
    {
      config: { access: 'public' },
      onRequest: throttleHook,
      schema: {
        ...operation('Single sign-on', 'linkSso', 'Log in once to the account that single sign-on will open'),
        errorStatuses: [401, 403, 429],
        description: 'Called by the page of the callback.',
        body: LinkInput,
        response: { 200: Ok, 401: SecondFactorRejection },
      },
    },
    async (request, reply) => {
      sessionCookie.assertSameOrigin(request);
      const { password, code } = request.body;
      const session = await logins.link(ssoCookie.readSecret(request), password, code, getClientInfo(request));
      void setCookies(reply, session, null);
      return { ok: true as const };
    },
  );
  app.get(
    '/sso/:orgId/callback',
    { onRequest: throttleHook, schema: { params: Type.Object({ orgId: Uuid }) } },
    async (request, reply) => {
      const callback = new URLSearchParams(request.url.split('?')[1] ?? '');
      const secret = ssoCookie.readSecret(request);
      const outcome = await logins.finish(request.params.orgId, callback, secret, getClientInfo(request));
      void reply.header('content-security-policy', CALLBACK_PAGE_POLICY).header('cache-control', 'no-store');
      void reply.type('text/html; charset=utf-8');
      if (outcome.kind === 'session') {
        void setCookies(reply, outcome.cookie, null);
        return reply.send(renderSignedInPage());
      }
      if (outcome.kind === 'prove_account') {
        void setCookies(reply, null, outcome.secret);
        return reply.send(renderProveAccountPage(outcome.email));
      }
      return reply.code(403).send(renderFailurePage(outcome.text));
    },
  );
}
