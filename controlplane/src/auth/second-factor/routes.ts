import type { FastifyRequest } from 'fastify';
import type { App } from '../../http/app.js';
import { operation } from '../../http/operation-id-tag-and-summary.js';
import { Deleted } from '../../http/schema.js';
import { Ok } from '../users/auth-schema.js';
import { CodeInput, RecoveryCodes, SecondFactorInput, SecondFactorSecret, SecondFactorStatus } from './schema.js';
import type { SecondFactorService } from './service.js';

const ACCOUNT = { config: { access: 'session', account: true } } as const;

/** `throttleHook`: the limit on requests that accept a password or a code. */
export function secondFactorRoutes(
  app: App,
  factors: SecondFactorService,
  throttleHook: (request: FastifyRequest) => Promise<void>,
): void {
  app.get(
    '/v1/second-factor',
    {
      ...ACCOUNT,
      schema: {
        ...operation('Authentication', 'getSecondFactor', 'Get the state of the user’s second factor'),
        response: { 200: SecondFactorStatus },
      },
    },
    async ({ actor }) => factors.getStatus(actor),
  );
  app.post(
    '/v1/second-factor',
    {
      ...ACCOUNT,
      onRequest: throttleHook,
      schema: {
        ...operation('Authentication', 'createSecondFactor', 'Create the secret of a second factor'),
        errorStatuses: [409, 429],
        description: 'The secret protects the account only after POST /v1/second-factor/confirm.',
        body: SecondFactorInput,
        response: { 201: SecondFactorSecret },
      },
    },
    async ({ actor, body }, reply) => reply.code(201).send(await factors.begin(actor, body.password)),
  );
  app.post(
    '/v1/second-factor/confirm',
    {
      ...ACCOUNT,
      onRequest: throttleHook,
      schema: {
        ...operation('Authentication', 'enableSecondFactor', 'Enable the second factor with its first code'),
        errorStatuses: [409, 429],
        description: 'Ends all other sessions of the user.',
        body: CodeInput,
        response: { 200: RecoveryCodes },
      },
    },
    async ({ actor, body }) => ({ recoveryCodes: [...(await factors.confirm(actor, body.code))] }),
  );
  app.post(
    '/v1/second-factor/verify',
    {
      config: { access: 'session' },
      onRequest: throttleHook,
      schema: {
        ...operation('Sessions', 'confirmSession', 'Confirm the session with a code of the second factor'),
        errorStatuses: [429],
        description: 'For 10 minutes the session may then do what answers 403 with secondFactor.',
        body: CodeInput,
        response: { 200: Ok },
      },
    },
    async ({ actor, body }) => {
      await factors.confirmSession(actor, body.code);
      return { ok: true as const };
    },
  );
  app.post(
    '/v1/second-factor/recovery-codes',
    {
      ...ACCOUNT,
      onRequest: throttleHook,
      schema: {
        ...operation('Authentication', 'renewRecoveryCodes', 'Replace the recovery codes'),
        errorStatuses: [429],
        body: CodeInput,
        response: { 200: RecoveryCodes },
      },
    },
    async ({ actor, body }) => ({ recoveryCodes: [...(await factors.renewRecoveryCodes(actor, body.code))] }),
  );
  app.delete(
    '/v1/second-factor',
    {
      ...ACCOUNT,
      onRequest: throttleHook,
      schema: {
        ...operation('Authentication', 'removeSecondFactor', 'Remove the second factor'),
        errorStatuses: [429],
        body: CodeInput,
        response: { 200: Deleted },
      },
    },
    async ({ actor, body }) => {
      await factors.remove(actor, body.code);
      return { deleted: true as const };
    },
  );
}
