import type { App } from '../http/app.js';
import { parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { Deleted, IdParams } from '../http/schema.js';
import type { CallCheck } from './call-check.js';
import type { CredentialTester } from './credential-tester.js';
import type { McpTools } from './mcp-tools.js';
import { rotateWithOverlapOrReplace } from './rotation-routes.js';
import type { RotationService } from './rotation-service.js';
import {
  AccountInput,
  AccountList,
  AccountPatch,
  AccountQuery,
  AccountReply,
  AccountTools,
  CallCheckInput,
  CallCheckReply,
  ListedAccountReply,
  RotateInput,
  TestInput,
  TestReply,
  ToolsQuery,
} from './schema.js';
import type { ProviderAccountService } from './service.js';

const BY_ACCOUNT = { params: { id: 'account' } } as const;

interface AccountServices {
  readonly accounts: ProviderAccountService;
  readonly tests: CredentialTester;
  readonly calls: CallCheck;
  readonly tools: McpTools;
  readonly rotations: RotationService;
}

export function accountRoutes(app: App, { accounts, tests, calls, tools, rotations }: AccountServices): void {
  app.get(
    '/v1/providers/accounts',
    {
      config: { access: 'viewer', project: { query: { agentId: 'agent', projectId: 'project' }, listBy: 'projectId' } },
      schema: {
        ...operation(
          'Accounts',
          'listAccounts',
          'List the provider accounts of an agent, a project or the organization',
        ),
        querystring: AccountQuery,
        response: { 200: AccountList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await accounts.list(
        actor,
        {
          agentId: query.agentId ?? null,
          projectId: query.projectId ?? null,
          status: query.status ?? null,
          credentialId: query.credentialId ?? null,
          providerSlug: query.providerSlug ?? null,
          sort: query.sort,
          order: query.order,
        },
        { limit, offset },
      );
      return { accounts: [...rows], total, limit, offset };
    },
  );
  app.get(
    '/v1/providers/accounts/:id',
    {
      config: { access: 'viewer', project: BY_ACCOUNT },
      schema: {
        ...operation('Accounts', 'getAccount', 'Get a provider account'),
        params: IdParams,
        response: { 200: ListedAccountReply },
      },
    },
    async ({ actor, params }) => ({ account: await accounts.get(actor, params.id) }),
  );
  app.post(
    '/v1/agents/:id/call-check',
    {
      config: { access: 'viewer', project: { params: { id: 'agent' } } },
      schema: {
        ...operation('Agents', 'checkCall', 'Check whether a call of an agent would pass its policy'),
        params: IdParams,
        body: CallCheckInput,
        response: { 200: CallCheckReply },
      },
    },
    async ({ actor, params, body }) => calls.check(actor, params.id, body),
  );
  app.post(
    '/v1/providers/accounts',
    {
      config: { access: 'admin', project: { body: { agentId: 'agent', credentialId: 'credential' } } },
      schema: {
        ...operation('Accounts', 'createAccount', 'Create a provider account for an agent'),
        body: AccountInput,
        response: { 201: AccountReply },
      },
    },
    async ({ actor, body }, reply) => reply.code(201).send({ account: await accounts.create(actor, body) }),
  );
  app.post(
    '/v1/providers/accounts/:id/rotate',
    {
      config: { access: 'admin', project: BY_ACCOUNT },
      schema: {
        ...operation('Accounts', 'rotateAccount', 'Rotate the credentials of a provider account'),
        params: IdParams,
        body: RotateInput,
        response: { 200: AccountReply },
      },
    },
    async ({ actor, params, body }) => {
      const replace = (compromised: boolean) => accounts.rotate(actor, params.id, body.credentials, compromised);
      await rotateWithOverlapOrReplace(rotations, actor, { kind: 'account', id: params.id }, body, replace);
      return { account: await accounts.show(actor, params.id) };
    },
  );
  app.post(
    '/v1/providers/accounts/test',
    {
      config: { access: 'admin' },
      schema: {
        ...operation(
          'Accounts',
          'testCredentials',
          'Test whether a provider accepts credentials, without storing them',
        ),
        errorStatuses: [404],
        body: TestInput,
        response: { 200: TestReply },
      },
    },
    async ({ actor, body }) => tests.testUnsavedCredentials(actor, body),
  );
  app.post(
    '/v1/providers/accounts/:id/test',
    {
      config: { access: 'admin', project: BY_ACCOUNT },
      schema: {
        ...operation('Accounts', 'testAccount', 'Test whether the provider accepts the credentials of an account'),
        params: IdParams,
        response: { 200: TestReply },
      },
    },
    async ({ actor, params }) => tests.testAccount(actor, params.id),
  );
  app.get(
    '/v1/providers/accounts/:id/tools',
    {
      config: { access: 'viewer', project: BY_ACCOUNT },
      schema: {
        ...operation('Accounts', 'listAccountTools', 'List the tools of the MCP server of an account'),
        errorStatuses: [429],
        params: IdParams,
        querystring: ToolsQuery,
        response: { 200: AccountTools },
      },
    },
    async ({ actor, params, query }) => tools.list(actor, params.id, query.refresh === true),
  );
  app.patch(
    '/v1/providers/accounts/:id',
    {
      config: { access: 'admin', project: BY_ACCOUNT },
      schema: {
        ...operation('Accounts', 'updateAccount', 'Allow or forbid sensitive paths for a provider account'),
        params: IdParams,
        body: AccountPatch,
        response: { 200: AccountReply },
      },
    },
    async ({ actor, params, body }) => ({ account: await accounts.update(actor, params.id, body) }),
  );
  app.delete(
    '/v1/providers/accounts/:id',
    {
      config: { access: 'admin', project: BY_ACCOUNT },
      schema: {
        ...operation('Accounts', 'deleteAccount', 'Delete a provider account'),
        params: IdParams,
        response: { 200: Deleted },
      },
    },
    async ({ actor, params }) => {
      await accounts.delete(actor, params.id);
      return { deleted: true as const };
    },
  );
}
