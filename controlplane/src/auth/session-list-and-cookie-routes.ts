/**
 * Routes to list and revoke sessions, and to open, switch and close the browser session, which uses a cookie instead of
 * a token.
 */

import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { Conflict, InvalidInput } from '../domain/errors.js';
import type { App } from '../http/app.js';
import { PageQuery, parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { Deleted, IdParams } from '../http/schema.js';
import type { Throttle } from '../throttling/throttle.js';
import { type Authenticator, getClientInfo } from './authenticator.js';
import { createAuthThrottleHook } from './routes.js';
import type { AuthService } from './service.js';
import type { SessionCookie } from './sessions/session-cookie.js';
import type { SessionService } from './sessions/session-service.js';
import { ChangePasswordInput, Ok, SecondFactorRejection, SwitchInput } from './users/auth-schema.js';
import { BrowserLoginInput, BrowserSessionReply, SessionList } from './users/session-schema.js';

interface SessionServices {
  readonly auth: AuthService;
  readonly sessions: SessionService;
  readonly throttle: Throttle;
  readonly authenticator: Authenticator;
  readonly cookie: SessionCookie;
}

const OK = { ok: true as const };
const DELETED = { deleted: true as const };

export function sessionRoutes(app: App, services: SessionServices): void {
  const { auth, sessions, throttle } = services;
  app.post(
    '/v1/auth/logout',
    {
      config: { access: 'session' },
      schema: {
        ...operation('Authentication', 'logOut', 'Log out: revoke the session of this call'),
        response: { 200: Ok },
      },
    },
    async ({ actor }) => {
      await sessions.logout(actor);
      return OK;
    },
  );
  app.post(
    '/v1/auth/change-password',
    {
      config: { access: 'session', account: true },
      onRequest: createAuthThrottleHook(throttle),
      schema: {
        ...operation('Authentication', 'changePassword', 'Change the password and revoke all other sessions'),
        body: ChangePasswordInput,
        response: { 200: Ok },
      },
    },
    async ({ actor, body }) => {
      await auth.changePassword(actor, body.currentPassword, body.newPassword);
      return OK;
    },
  );
  app.get(
    '/v1/sessions',
    {
      config: { access: 'session', account: true },
      schema: {
        ...operation('Sessions', 'listSessions', 'List the user’s sessions'),
        querystring: Type.Object(PageQuery),
        response: { 200: SessionList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await sessions.list(actor, { limit, offset });
      return { sessions: [...rows], total, limit, offset };
    },
  );
  app.delete(
    '/v1/sessions',
    {
      config: { access: 'session', account: true },
      schema: {
        ...operation('Sessions', 'endOtherSessions', 'Revoke all other sessions'),
        description: 'Revokes all sessions of the user except the one of this call.',
        response: { 200: Deleted },
      },
    },
    async ({ actor }) => {
      await sessions.revokeOthers(actor);
      return DELETED;
    },
  );
  app.delete(
    '/v1/sessions/:id',
    {
      config: { access: 'session', account: true },
      schema: {
        ...operation('Sessions', 'endSession', 'Revoke a session'),
        params: IdParams,
        response: { 200: Deleted },
      },
    },
    async ({ actor, params }) => {
      await sessions.revoke(actor, params.id);
      return DELETED;
    },
  );
  browserSessionRoutes(app, services);
}

function browserSessionRoutes(app: App, { auth, sessions, throttle, authenticator, cookie }: SessionServices): void {
  const setSessionCookie = (reply: FastifyReply, secret: string | null) =>
    reply.header('set-cookie', cookie.serializeSetCookie(secret));
  app.post(
    '/v1/session',
    {
      config: { access: 'public', bodyOptional: true },
      onRequest: createAuthThrottleHook(throttle),
      schema: {
        ...operation('Sessions', 'openBrowserSession', 'Open a browser session, which uses a cookie'),
        errorStatuses: [401, 403, 429],
        description:
          'Opens a session that the browser stores as a cookie: with e-mail and password, or with neither and a bearer ' +
          'token, which is revoked. Only for pages of this service.',
        body: BrowserLoginInput,
        response: { 200: BrowserSessionReply, 401: SecondFactorRejection },
      },
    },
    async (request, reply) => {
      cookie.assertSameOrigin(request);
      const { email, password, code } = request.body;
      if (email !== undefined && password !== undefined) {
        const login = await auth.loginBrowser(
          { email, password, ...(code === undefined ? {} : { code }) },
          getClientInfo(request),
        );
        void setSessionCookie(reply, login.cookie);
        return login.reply;
      }
      if (email !== undefined || password !== undefined) {
        throw new InvalidInput('send email and password together, or neither of them and a bearer token');
      }
      const actor = await authenticator.resolveBearerSessionActor(request);
      const me = await auth.getSelf(actor);
      void setSessionCookie(reply, await sessions.exchangeForCookie(actor));
      return me;
    },
  );
  app.patch(
    '/v1/session',
    {
      config: { access: 'session', account: true },
      schema: {
        ...operation('Sessions', 'switchBrowserSession', 'Switch the browser session to another organization'),
        body: SwitchInput,
        response: { 200: BrowserSessionReply },
      },
    },
    async (request) => {
      const { actor, body } = request;
      if (actor.session?.kind !== 'browser')
        throw new Conflict('a bearer token switches organizations with POST /v1/auth/switch-org');
      await auth.switchOrganization(actor, body.orgId, getClientInfo(request));
      return auth.getSelf(await authenticator.resolveActor(request));
    },
  );
  app.delete(
    '/v1/session',
    {
      config: { access: 'session' },
      schema: {
        ...operation('Sessions', 'closeBrowserSession', 'Close the browser session'),
        response: { 200: Deleted },
      },
    },
    async ({ actor }, reply) => {
      await sessions.logout(actor);
      void setSessionCookie(reply, null);
      return DELETED;
    },
  );
}
