import { InvalidInput } from '../domain/errors.js';
import type { App } from '../http/app.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import type { Actor } from '../http/route-access.js';
import { IdParams } from '../http/schema.js';
import { RotationActionInput } from './rotation-schema.js';
import type { RotationService } from './rotation-service.js';
import type { RotationOwner } from './rotation-store.js';
import { AccountReply, type RotateInput } from './schema.js';
import type { ProviderAccountService } from './service.js';
import { SharedCredentialReply } from './shared-credential-schema.js';
import type { SharedCredentialService } from './shared-credential-service.js';

const CHANGE_SUMMARY = 'Cancel, roll back or end a rotation with overlap';

export function rotationRoutes(
  app: App,
  rotations: RotationService,
  accounts: ProviderAccountService,
  shared: SharedCredentialService,
): void {
  app.post(
    '/v1/providers/accounts/:id/rotation',
    {
      config: { access: 'admin', project: { params: { id: 'account' } } },
      schema: {
        ...operation('Accounts', 'changeAccountRotation', `${CHANGE_SUMMARY} of a provider account`),
        errorStatuses: [409],
        params: IdParams,
        body: RotationActionInput,
        response: { 200: AccountReply },
      },
    },
    async ({ actor, params, body }) => {
      await rotations.act(actor, { kind: 'account', orgId: actor.orgId, id: params.id }, body.action);
      return { account: await accounts.show(actor, params.id) };
    },
  );
  app.post(
    '/v1/credentials/:id/rotation',
    {
      config: { access: 'admin', project: { params: { id: 'credential' } } },
      schema: {
        ...operation('Accounts', 'changeCredentialRotation', `${CHANGE_SUMMARY} of a shared credential`),
        errorStatuses: [409],
        params: IdParams,
        body: RotationActionInput,
        response: { 200: SharedCredentialReply },
      },
    },
    async ({ actor, params, body }) => {
      await rotations.act(actor, { kind: 'credential', orgId: actor.orgId, id: params.id }, body.action);
      return { credential: await shared.get(actor, params.id) };
    },
  );
}

/** Starts a rotation with overlap, or calls `replace`, which replaces the credential at once. */
export async function rotateWithOverlapOrReplace(
  rotations: RotationService,
  actor: Actor,
  owner: Omit<RotationOwner, 'orgId'>,
  { credentials, testFirst = false, keepSeconds, compromised = false }: RotateInput,
  replace: (compromised: boolean) => Promise<unknown>,
): Promise<void> {
  if (!testFirst) {
    if (keepSeconds !== undefined) throw new InvalidInput('keepSeconds: only with testFirst');
    await replace(compromised);
    return;
  }
  if (compromised)
    throw new InvalidInput('compromised: a compromised credential is replaced at once, so leave testFirst out');
  await rotations.start(actor, { ...owner, orgId: actor.orgId }, credentials, keepSeconds);
}
