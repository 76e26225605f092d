import type { App } from '../http/app.js';
import { parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { Deleted, IdParams } from '../http/schema.js';
import type { CredentialTester } from './credential-tester.js';
import { rotateWithOverlapOrReplace } from './rotation-routes.js';
import type { RotationService } from './rotation-service.js';
import { RotateInput, TestReply } from './schema.js';
import {
  SharedCredentialInput,
  SharedCredentialList,
  SharedCredentialPatch,
  SharedCredentialQuery,
  SharedCredentialReply,
} from './shared-credential-schema.js';
import type { SharedCredentialService } from './shared-credential-service.js';

const BY_CREDENTIAL = { params: { id: 'credential' } } as const;

export function sharedCredentialRoutes(
  app: App,
  shared: SharedCredentialService,
  tests: CredentialTester,
  rotations: RotationService,
): void {
  app.get(
    '/v1/credentials',
    {
      config: { access: 'viewer', project: { query: { projectId: 'project' }, listBy: 'projectId' } },
      schema: {
        ...operation('Accounts', 'listCredentials', 'List shared credentials'),
        querystring: SharedCredentialQuery,
        response: { 200: SharedCredentialList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { projectId = null, providerSlug = null, status = null, search = null, sort, order } = query;
      const filter = { projectId, providerSlug, status, search, sort, order };
      const { rows, total } = await shared.list(actor, filter, { limit, offset });
      return { credentials: [...rows], total, limit, offset };
    },
  );
  app.post(
    '/v1/credentials',
    {
      config: { access: 'admin', project: { body: { projectId: 'project' } } },
      schema: {
        ...operation(
          'Accounts',
          'createCredential',
          'Create a credential that the provider accounts of many agents share',
        ),
        body: SharedCredentialInput,
        response: { 201: SharedCredentialReply },
      },
    },
    async ({ actor, body }, reply) => reply.code(201).send({ credential: await shared.create(actor, body) }),
  );
  app.get(
    '/v1/credentials/:id',
    {
      config: { access: 'viewer', project: BY_CREDENTIAL },
      schema: {
        ...operation('Accounts', 'getCredential', 'Get a shared credential without its value'),
        params: IdParams,
        response: { 200: SharedCredentialReply },
      },
    },
    async ({ actor, params }) => ({ credential: await shared.get(actor, params.id) }),
  );
  app.patch(
    '/v1/credentials/:id',
    {
      config: { access: 'admin', project: BY_CREDENTIAL },
      schema: {
        ...operation('Accounts', 'renameCredential', 'Rename a shared credential'),
        params: IdParams,
        body: SharedCredentialPatch,
        response: { 200: SharedCredentialReply },
      },
    },
    async ({ actor, params, body }) => ({ credential: await shared.rename(actor, params.id, body.name) }),
  );
  app.post(
    '/v1/credentials/:id/rotate',
    {
      config: { access: 'admin', project: BY_CREDENTIAL },
      schema: {
        ...operation('Accounts', 'rotateCredential', 'Rotate a shared credential for all accounts that use it'),
        params: IdParams,
        body: RotateInput,
        response: { 200: SharedCredentialReply },
      },
    },
    async ({ actor, params, body }) => {
      const replace = (compromised: boolean) => shared.rotate(actor, params.id, body.credentials, compromised);
      await rotateWithOverlapOrReplace(rotations, actor, { kind: 'credential', id: params.id }, body, replace);
      return { credential: await shared.get(actor, params.id) };
    },
  );
  app.post(
    '/v1/credentials/:id/test',
    {
      config: { access: 'admin', project: BY_CREDENTIAL },
      schema: {
        ...operation('Accounts', 'testCredential', 'Test whether the provider accepts a shared credential'),
        params: IdParams,
        response: { 200: TestReply },
      },
    },
    async ({ actor, params }) => tests.testSharedCredential(actor, params.id),
  );
  app.delete(
    '/v1/credentials/:id',
    {
      config: { access: 'admin', project: BY_CREDENTIAL },
      schema: {
        ...operation('Accounts', 'deleteCredential', 'Delete a shared credential that no account uses'),
        params: IdParams,
        response: { 200: Deleted },
      },
    },
    async ({ actor, params }) => {
      await shared.delete(actor, params.id);
      return { deleted: true as const };
    },
  );
}
