import type { FastifyRequest } from 'fastify';
import { Conflict } from '../domain/errors.js';
import type { App } from '../http/app.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import type { Throttle } from '../throttling/throttle.js';
import { type Authenticator, getClientInfo, readBearerToken } from './authenticator.js';
import type { PasswordResetAndEmailVerification } from './recovery/password-reset-and-email-verification.js';
import type { AuthService } from './service.js';
import type { SessionService } from './sessions/session-service.js';
import {
  AddressInput,
  LoginInput,
  LoginReply,
  MeReply,
  Ok,
  RefreshReply,
  RenameInput,
  ResetInput,
  SecondFactorRejection,
  SelfReply,
  SignupInput,
  SignupReply,
  SwitchInput,
  SwitchReply,
  VerifyInput,
} from './users/auth-schema.js';

interface AuthServices {
  readonly auth: AuthService;
  readonly sessions: SessionService;
  readonly recovery: PasswordResetAndEmailVerification;
  readonly throttle: Throttle;
  readonly authenticator: Authenticator;
}

const OK = { ok: true as const };

export function authRoutes(app: App, { auth, sessions, recovery, throttle, authenticator }: AuthServices): void {
  const publicRoute = { config: { access: 'public' as const }, onRequest: createAuthThrottleHook(throttle) };
  app.post(
    '/v1/auth/signup',
    {
      ...publicRoute,
      schema: {
        ...operation('Authentication', 'signUp', 'Create an account and its organization'),
        errorStatuses: [403, 409, 429],
        body: SignupInput,
        response: { 201: SignupReply },
      },
    },
    async (request, reply) => reply.code(201).send(await auth.signup(request.body, getClientInfo(request))),
  );
  app.post(
    '/v1/auth/login',
    {
      ...publicRoute,
      schema: {
        ...operation('Authentication', 'logIn', 'Log in with e-mail and password'),
        errorStatuses: [401, 429],
        body: LoginInput,
        response: { 200: LoginReply, 401: SecondFactorRejection },
      },
    },
    async (request) => auth.login(request.body, getClientInfo(request)),
  );
  app.post(
    '/v1/auth/refresh',
    {
      ...publicRoute,
      schema: {
        ...operation('Authentication', 'refreshSession', 'Exchange a session token for a new one'),
        errorStatuses: [401, 403, 429],
        security: [{ session: [] }],
        response: { 200: RefreshReply },
      },
    },
    async (request) => ({ token: await sessions.refresh(readBearerToken(request), getClientInfo(request)) }),
  );
  app.post(
    '/v1/auth/switch-org',
    {
      ...publicRoute,
      config: { access: 'session', account: true },
      schema: {
        ...operation('Authentication', 'switchOrganization', 'Get a token for another organization'),
        errorStatuses: [404, 429],
        body: SwitchInput,
        response: { 200: SwitchReply },
      },
    },
    async (request) => {
      const { actor, body } = request;
      if (actor.session?.kind === 'browser')
        throw new Conflict('a browser session switches organizations with PATCH /v1/session');
      return { token: await auth.switchOrganization(actor, body.orgId, getClientInfo(request)), orgId: body.orgId };
    },
  );
  app.post(
    '/v1/auth/forgot-password',
    {
      ...publicRoute,
      schema: {
        ...operation('Authentication', 'forgotPassword', 'Mail a link to set a new password'),
        errorStatuses: [429],
        body: AddressInput,
        response: { 200: Ok },
      },
    },
    async ({ body }) => {
      recovery.requestPasswordReset(body.email);
      return OK;
    },
  );
  app.post(
    '/v1/auth/reset-password',
    {
      ...publicRoute,
      schema: {
        ...operation('Authentication', 'resetPassword', 'Set a new password with the token from a mail'),
        errorStatuses: [429],
        body: ResetInput,
        response: { 200: Ok },
      },
    },
    async (request) => {
      const { body, ip } = request;
      await recovery.resetPassword(body.token, body.password, await authenticator.findSessionUserId(request), ip);
      return OK;
    },
  );
  app.post(
    '/v1/auth/verify-email',
    {
      ...publicRoute,
      schema: {
        ...operation('Authentication', 'verifyEmail', 'Confirm an e-mail address with the token from a mail'),
        errorStatuses: [401, 429],
        body: VerifyInput,
        response: { 200: Ok },
      },
    },
    async ({ body, ip }) => {
      await recovery.verifyEmailAndCheckPassword(body.token, body.password, ip);
      return OK;
    },
  );
  app.post(
    '/v1/auth/resend-verification',
    {
      ...publicRoute,
      schema: {
        ...operation('Authentication', 'resendVerification', 'Resend the verification e-mail'),
        errorStatuses: [429],
        body: AddressInput,
        response: { 200: Ok },
      },
    },
    async ({ body }) => {
      recovery.resendVerification(body.email);
      return OK;
    },
  );
  app.patch(
    '/v1/me',
    {
      config: { access: 'session', account: true },
      schema: {
        ...operation('Sessions', 'updateMe', 'Change the user’s name'),
        body: RenameInput,
        response: { 200: SelfReply },
      },
    },
    async ({ actor, body }) => auth.renameUser(actor, body.name),
  );
  app.get(
    '/v1/me',
    {
      config: { access: 'viewer', whileDeleted: true, project: {} },
      schema: {
        ...operation('Sessions', 'getMe', 'Get the current user or management token, with organization and role'),
        response: { 200: MeReply },
      },
    },
    async ({ actor }) => auth.getMe(actor),
  );
}

/** For routes that accept a password, a mailed token or a session to refresh. */
export const createAuthThrottleHook = (throttle: Throttle) => (request: FastifyRequest) =>
  throttle.throttleAuthRequest(request.ip);
