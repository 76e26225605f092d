import { randomBytes } from 'node:crypto';
import { newProject } from './identity.js';
import type { ExampleContext, Examples } from './route-example.js';

const CREDENTIALS = { apiKey: 'sk-example-0123456789' };

export async function newAgent(context: ExampleContext): Promise<{ id: string; projectId: string }> {
  const projectId = await newProject(context);
  const { body } = await context.owner.call('POST', '/v1/agents', { projectId, name: 'Example' });
  return { id: body.agent.id, projectId };
}

async function createKey(context: ExampleContext): Promise<string> {
  const { id } = await newAgent(context);
  const { body } = await context.owner.call('POST', '/v1/api-keys', { name: 'Example', agentId: id });
  return body.key.id;
}

export async function newAccount(context: ExampleContext): Promise<string> {
  const { id } = await newAgent(context);
  const { body } = await context.owner.call('POST', '/v1/providers/accounts', {
    agentId: id,
    providerSlug: 'openai',
    credentials: CREDENTIALS,
  });
  return body.account.id;
}

async function createSharedCredential({ owner }: ExampleContext, projectId?: string): Promise<string> {
  const scope = projectId === undefined ? {} : { projectId };
  const body = { name: 'Team', providerSlug: 'openai', credentials: CREDENTIALS, ...scope };
  return (await owner.call('POST', '/v1/credentials', body)).body.credential.id;
}

const customProvider = () => ({
  slug: `own-${randomBytes(4).toString('hex')}`,
  displayName: 'Own',
  baseUrl: 'http://127.0.0.1:9/base',
  authType: 'bearer',
});

async function newCustomProvider({ owner }: ExampleContext): Promise<string> {
  const { body } = await owner.call('POST', '/v1/custom-providers', customProvider());
  return body.provider.id;
}

/** Uses a provider whose server does not respond. */
async function newCustomAccount(context: ExampleContext): Promise<string> {
  const { id } = await newAgent(context);
  const made = await context.owner.call('POST', '/v1/custom-providers', customProvider());
  const account = { agentId: id, providerSlug: made.body.provider.slug, credentials: CREDENTIALS };
  return (await context.owner.call('POST', '/v1/providers/accounts', account)).body.account.id;
}

/** Uses an MCP server that does not respond. */
async function newMcpAccount(context: ExampleContext): Promise<string> {
  const { id } = await newAgent(context);
  const { slug, displayName } = customProvider();
  const definition = {
    credentials: { kind: 'api_key', fields: [{ name: 'apiKey', label: 'Token', secret: true, required: true }] },
    origins: { default: 'http://127.0.0.1:9' },
    inject: [{ header: 'authorization', value: 'Bearer {apiKey}' }],
    usage: { format: 'mcp' },
  };
  const made = await context.owner.call('POST', '/v1/custom-providers', { slug, displayName, definition });
  const account = { agentId: id, providerSlug: made.body.provider.slug, credentials: CREDENTIALS };
  return (await context.owner.call('POST', '/v1/providers/accounts', account)).body.account.id;
}

export const PROVISIONING_EXAMPLES: Examples = {
  'GET /v1/agents': { prepare: async (context) => ({ query: { projectId: await newProject(context) } }) },
  'POST /v1/agents': {
    prepare: async (context) => ({
      body: {
        projectId: await newProject(context),
        name: 'Example',
        description: 'Answers mail',
        rpmLimit: 10,
        rpdLimit: null,
        budgetCentsMonthly: 1_000,
        usageThresholds: [50, 90],
        budgets: [
          { window: 'month', cents: 1_000 },
          { window: 'day', cents: 100, models: ['gpt-5*'], tag: 'customer=acme', mode: 'hard' },
        ],
        auditLimits: ['tpm'],
      },
    }),
    success: 201,
  },
  'POST /v1/agents/:id/call-check': {
    prepare: async (context) => ({
      params: { id: (await newAgent(context)).id },
      body: { providerSlug: 'openai', call: 'POST /v1/chat/completions', model: 'gpt-5-mini', policy: {} },
    }),
    unaudited: 'changes nothing',
  },
  'GET /v1/agents/:id': { prepare: async (context) => ({ params: { id: (await newAgent(context)).id } }) },
  'PATCH /v1/agents/:id': {
    prepare: async (context) => ({
      params: { id: (await newAgent(context)).id },
      body: { name: 'Renamed', description: '', rpmLimit: null, usageThresholds: [50, 90] },
    }),
  },
  'PATCH /v1/agents/:id/status': {
    prepare: async (context) => ({ params: { id: (await newAgent(context)).id }, body: { status: 'paused' } }),
  },
  'DELETE /v1/agents/:id': { prepare: async (context) => ({ params: { id: (await newAgent(context)).id } }) },
  'GET /v1/api-keys': {
    async prepare(context) {
      const { id, projectId } = await newAgent(context);
      return { query: { agentId: id, projectId } };
    },
  },
  'GET /v1/api-keys/:id': { prepare: async (context) => ({ params: { id: await createKey(context) } }) },
  'PATCH /v1/api-keys/:id': {
    prepare: async (context) => ({
      params: { id: await createKey(context) },
      body: { name: 'Renamed', expiresAt: '2999-01-01T00:00:00.000Z' },
    }),
  },
  'POST /v1/api-keys/:id/rotate': {
    prepare: async (context) => ({
      params: { id: await createKey(context) },
      body: { graceSeconds: 60, expiresAt: '2999-01-01T00:00:00.000Z' },
    }),
    success: 201,
  },
  'POST /v1/api-keys': {
    async prepare(context) {
      const { id, projectId } = await newAgent(context);
      const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
      return { body: { name: 'Example', scope: 'agent', agentId: id, projectId, expiresAt } };
    },
    success: 201,
  },
  'DELETE /v1/api-keys/:id': { prepare: async (context) => ({ params: { id: await createKey(context) } }) },
  'GET /v1/providers': { otherProject: 200, prepare: () => ({}) },
  'GET /v1/providers/:slug': {
    otherProject: 200,
    foreign: { slug: 200 },
    prepare: () => ({ params: { slug: 'openai' } }),
  },
  'GET /v1/providers/accounts': {
    prepare: async (context) => ({ query: { agentId: (await newAgent(context)).id } }),
  },
  'GET /v1/providers/accounts/:id': {
    prepare: async (context) => ({ params: { id: await newAccount(context) } }),
  },
  'POST /v1/providers/accounts': {
    prepare: async (context) => ({
      body: { agentId: (await newAgent(context)).id, providerSlug: 'openai', credentials: CREDENTIALS },
    }),
    success: 201,
  },
  'POST /v1/providers/accounts/:id/rotate': {
    prepare: async (context) => ({
      params: { id: await newAccount(context) },
      body: { credentials: { apiKey: 'sk-rotated-0123456789' } },
    }),
  },
  'POST /v1/providers/accounts/test': {
    async prepare({ owner }) {
      const { body } = await owner.call('POST', '/v1/custom-providers', customProvider());
      return { body: { providerSlug: body.provider.slug, credentials: CREDENTIALS } };
    },
  },
  'POST /v1/providers/accounts/:id/test': {
    prepare: async (context) => ({ params: { id: await newCustomAccount(context) } }),
  },
  'GET /v1/providers/accounts/:id/tools': {
    prepare: async (context) => ({ params: { id: await newMcpAccount(context) } }),
  },
  'PATCH /v1/providers/accounts/:id': {
    prepare: async (context) => ({ params: { id: await newAccount(context) }, body: { allowSensitivePaths: true } }),
  },
  'DELETE /v1/providers/accounts/:id': {
    prepare: async (context) => ({ params: { id: await newAccount(context) } }),
  },
  'GET /v1/credentials': {
    async prepare(context) {
      const projectId = await newProject(context);
      await createSharedCredential(context, projectId);
      return { query: { projectId } };
    },
  },
  'POST /v1/credentials': {
    prepare: async (context) => ({
      body: {
        name: 'Team',
        providerSlug: 'openai',
        projectId: await newProject(context),
        credentials: CREDENTIALS,
      },
    }),
    success: 201,
  },
  'GET /v1/credentials/:id': {
    prepare: async (context) => ({ params: { id: await createSharedCredential(context) } }),
  },
  'PATCH /v1/credentials/:id': {
    prepare: async (context) => ({ params: { id: await createSharedCredential(context) }, body: { name: 'Renamed' } }),
  },
  'POST /v1/credentials/:id/rotate': {
    prepare: async (context) => ({
      params: { id: await createSharedCredential(context) },
      body: { credentials: { apiKey: 'sk-rotated-0123456789' } },
    }),
  },
  'POST /v1/credentials/:id/test': {
    async prepare({ owner }) {
      const { slug } = (await owner.call('POST', '/v1/custom-providers', customProvider())).body.provider;
      const body = { name: 'Team', providerSlug: slug, credentials: CREDENTIALS };
      return { params: { id: (await owner.call('POST', '/v1/credentials', body)).body.credential.id } };
    },
  },
  'DELETE /v1/credentials/:id': {
    prepare: async (context) => ({ params: { id: await createSharedCredential(context) } }),
  },
  'GET /v1/custom-providers': { prepare: () => ({}) },
  'POST /v1/custom-providers': {
    prepare: () => ({
      body: { ...customProvider(), authType: 'header', authName: 'X-Key', authPrefix: 'Key ', usageFormat: 'openai' },
    }),
    success: 201,
  },
  'PUT /v1/custom-providers/:id': {
    prepare: async (context) => ({
      params: { id: await newCustomProvider(context) },
      body: { displayName: 'Renamed', baseUrl: 'http://127.0.0.1:10', authType: 'query', authName: 'key' },
    }),
  },
  'DELETE /v1/custom-providers/:id': {
    prepare: async (context) => ({ params: { id: await newCustomProvider(context) } }),
  },
};
