import { Type } from 'typebox';
import type { App } from '../../http/app.js';
import { operation } from '../../http/operation-id-tag-and-summary.js';
import { Body, Role, Timestamp, Uuid } from '../../http/schema.js';
import type { Throttle } from '../../throttling/throttle.js';
import { getClientInfo } from '../authenticator.js';
import { createAuthThrottleHook } from '../routes.js';
import { LoginReply, Ok, OrganizationWithRole } from '../users/auth-schema.js';
import type { DeviceLogin } from './device-login.js';

const UserCode = Type.String({
  minLength: 8,
  maxLength: 12,
  description: 'The code that the user types. Never put it into a link.',
});
const StartInput = Body({
  client: Type.String({ minLength: 1, maxLength: 80, pattern: '^[A-Za-z0-9 ._/()-]+$' }),
  hostname: Type.Optional(Type.String({ minLength: 1, maxLength: 253, pattern: '^[A-Za-z0-9._-]+$' })),
});
const StartReply = Type.Object({
  deviceCode: Type.String(),
  userCode: Type.String(),
  verificationUrl: Type.String(),
  expiresIn: Type.Integer({ description: 'Seconds.' }),
  interval: Type.Integer({ description: 'Seconds between two polls.' }),
});
const CodeInput = Body({ userCode: UserCode });
const ApproveInput = Body({ userCode: UserCode, orgId: Uuid, role: Role });
const LookupReply = Type.Object({
  device: Type.Object({
    client: Type.String({ description: 'The name that the program reports. Unverified.' }),
    hostname: Type.String({ description: 'The hostname that the program reports. Unverified.' }),
    ip: Type.String(),
    createdAt: Timestamp,
    expiresAt: Timestamp,
  }),
  orgs: Type.Array(OrganizationWithRole),
});
const TokenInput = Body({ deviceCode: Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9_-]+$' }) });
const OK = { ok: true as const };

export function deviceRoutes(app: App, device: DeviceLogin, throttle: Throttle): void {
  const onRequest = createAuthThrottleHook(throttle);
  const open = { config: { access: 'public' as const }, onRequest };
  const personal = { config: { access: 'session' } as const };
  app.post(
    '/v1/auth/device',
    {
      ...open,
      schema: {
        ...operation('Authentication', 'startDeviceLogin', 'Start a device login'),
        errorStatuses: [429],
        body: StartInput,
        response: { 201: StartReply },
      },
    },
    async ({ body, ip }, reply) =>
      reply.code(201).send(await device.startDeviceLogin(body.client, body.hostname ?? '', ip)),
  );
  app.post(
    '/v1/auth/device/token',
    {
      ...open,
      schema: {
        ...operation('Authentication', 'pollDeviceLogin', 'Poll a device login for its session'),
        errorStatuses: [429],
        description:
          'Returns the session after the user has approved it. Until then 400 with the error authorization_pending, slow_down, ' +
          'access_denied or expired_token.',
        body: TokenInput,
        response: { 200: LoginReply },
      },
    },
    async (request) => device.pollForSession(request.body.deviceCode, getClientInfo(request)),
  );
  app.post(
    '/v1/auth/device/lookup',
    {
      ...personal,
      schema: {
        ...operation('Authentication', 'lookUpDevice', 'Look up a device login by its user code'),
        errorStatuses: [404],
        body: CodeInput,
        response: { 200: LookupReply },
      },
    },
    async ({ actor, body }) => {
      const { device: found, orgs } = await device.findPendingDevice(actor, body.userCode);
      const { client, hostname, ip, createdAt, expiresAt } = found;
      const times = { createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
      return { device: { client, hostname, ip, ...times }, orgs: [...orgs] };
    },
  );
  app.post(
    '/v1/auth/device/approve',
    {
      ...personal,
      schema: {
        ...operation('Authentication', 'approveDevice', 'Approve a device login'),
        body: ApproveInput,
        response: { 200: Ok },
      },
    },
    async ({ actor, body }) => {
      await device.approve(actor, body.userCode, body.orgId, body.role);
      return OK;
    },
  );
  app.post(
    '/v1/auth/device/deny',
    {
      ...personal,
      schema: {
        ...operation('Authentication', 'denyDevice', 'Deny a device login'),
        errorStatuses: [404],
        body: CodeInput,
        response: { 200: Ok },
      },
    },
    async ({ actor, body }) => {
      await device.deny(actor, body.userCode);
      return OK;
    },
  );
}

/** For the API document. */
export const EXAMPLES = {
  client: 'acg 0.1.0',
  hostname: 'build-7',
  deviceCode: 'example-device-code-of-no-login',
  userCode: 'BCDF-GHJK',
  verificationUrl: 'https://gateway.example.com/device',
  expiresIn: 600,
  interval: 2,
};
