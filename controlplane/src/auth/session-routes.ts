/** Seeing and ending sessions, and the session of a browser, which holds a cookie instead of a token. */
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { Conflict, InvalidInput } from '../domain/errors.js';
import type { App } from '../http/app.js';
import { PageQuery, page } from '../http/pagination.js';
import { Deleted, IdParams } from '../http/schema.js';
import { type Authenticator, clientOf } from './authenticate.js';
import type { SessionCookie } from './cookie.js';
import { countAuthRequest } from './routes.js';
import { ChangePasswordInput, Ok, SwitchInput } from './schema.js';
import type { AuthService } from './service.js';
import { BrowserLoginInput, BrowserSessionReply, SessionList } from './session-schema.js';
import type { Sessions } from './sessions.js';
import type { Throttle } from './throttle.js';

interface SessionParts {
  readonly auth: AuthService;
  readonly sessions: Sessions;
  readonly throttle: Throttle;
  readonly authenticator: Authenticator;
  readonly cookie: SessionCookie;
}

const OK = { ok: true as const };
const DELETED = { deleted: true as const };

export function sessionRoutes(app: App, parts: SessionParts): void {
  const { auth, sessions, throttle } = parts;
  app.post(
    '/v1/auth/logout',
    { config: { access: 'session' }, schema: { response: { 200: Ok } } },
    async ({ actor }) => {
      await sessions.logout(actor);
      return OK;
    },
  );
  app.post(
    '/v1/auth/change-password',
    {
      config: { access: 'session', account: true },
      onRequest: countAuthRequest(throttle),
      schema: { body: ChangePasswordInput, response: { 200: Ok } },
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
      schema: { querystring: Type.Object(PageQuery), response: { 200: SessionList } },
    },
    async ({ actor, query }) => {
      const { limit, offset } = page(query);
      const { rows, total } = await sessions.list(actor, { limit, offset });
      return { sessions: [...rows], total, limit, offset };
    },
  );
  app.delete(
    '/v1/sessions',
    {
      config: { access: 'session', account: true },
      schema: { description: 'Ends all sessions of the user but the one of this call.', response: { 200: Deleted } },
    },
    async ({ actor }) => {
      await sessions.endOthers(actor);
      return DELETED;
    },
  );
  app.delete(
    '/v1/sessions/:id',
    { config: { access: 'session', account: true }, schema: { params: IdParams, response: { 200: Deleted } } },
    async ({ actor, params }) => {
      await sessions.end(actor, params.id);
      return DELETED;
    },
  );
  browserRoutes(app, parts);
}

function browserRoutes(app: App, { auth, sessions, throttle, authenticator, cookie }: SessionParts): void {
  const setCookie = (reply: FastifyReply, secret: string | null) => reply.header('set-cookie', cookie.header(secret));
  app.post(
    '/v1/session',
    {
      config: { access: 'public', bodyOptional: true },
      onRequest: countAuthRequest(throttle),
      schema: {
        description:
          'Opens a session that the browser holds as a cookie: with e-mail and password, or with neither and a bearer ' +
          'token, which ends. Only for pages of this service.',
        body: BrowserLoginInput,
        response: { 200: BrowserSessionReply },
      },
    },
    async (request, reply) => {
      cookie.assertOwnPage(request);
      const { email, password } = request.body;
      if (email !== undefined && password !== undefined) {
        const login = await auth.browserLogin({ email, password }, clientOf(request));
        void setCookie(reply, login.cookie);
        return login.reply;
      }
      if (email !== undefined || password !== undefined) {
        throw new InvalidInput('email and password are required together, or neither beside a bearer token');
      }
      const actor = await authenticator.bearerActorOf(request);
      const me = await auth.self(actor);
      void setCookie(reply, await sessions.exchange(actor));
      return me;
    },
  );
  app.patch(
    '/v1/session',
    {
      config: { access: 'session', account: true },
      schema: { body: SwitchInput, response: { 200: BrowserSessionReply } },
    },
    async (request) => {
      const { actor, body } = request;
      if (actor.session?.kind !== 'browser') throw new Conflict('a bearer token switches with /v1/auth/switch-org');
      await auth.switchOrg(actor, body.orgId, clientOf(request));
      return auth.self(await authenticator.actorOf(request));
    },
  );
  app.delete(
    '/v1/session',
    { config: { access: 'session' }, schema: { response: { 200: Deleted } } },
    async ({ actor }, reply) => {
      await sessions.logout(actor);
      void setCookie(reply, null);
      return DELETED;
    },
  );
}
