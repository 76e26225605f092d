/**
 * A maximum of tool uses bounds a call only at providers whose file or definition says that they keep to it. Calls go
 * through the whole pipeline, with upstreams that the control plane builds.
 */
import { Agent } from 'node:http';
import { buildUpstreams } from '@acg/controlplane/providers/build-upstream';
import { Catalogue } from '@acg/controlplane/providers/catalogue/catalogue';
import type { Provider } from '@acg/controlplane/providers/catalogue/provider';
import { type CustomProvider, toProvider } from '@acg/controlplane/providers/custom/custom-provider';
import { ProviderMetering } from '@acg/dataplane/call/provider-metering';
import { createContext, createRejectedAdmission, ProxyFixture } from '@acg/dataplane/call/testing/proxy-fixture';
import { RawUpstream } from '@acg/dataplane/call/testing/raw-peer-fixture';
import { decodeContext } from '@acg/dataplane/context/decode-context';
import { createContextMessage } from '@acg/dataplane/context/testing/context-message-fixture';
import { createTestLimits } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import { CallCostCalculator } from '@acg/dataplane/pricing/call-cost-calculator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ReservationOutcome, reserveThroughPipeline } from './reserve-through-pipeline.js';

const PRICES_AT = Date.parse('2026-11-20');
const MAX_EDITED_BODY_BYTES = 1024 * 1024;
const catalogue = new Catalogue();

const shortForm = (slug: string): CustomProvider => ({
  slug,
  baseUrl: 'https://llm.example.com',
  authType: 'none',
  authName: null,
  authPrefix: null,
  usageFormat: 'openai',
  sensitivePaths: [],
  definition: null,
});
const declaring: CustomProvider = {
  ...shortForm('own-declaring'),
  definition: {
    credentials: { kind: 'api_key', fields: [] },
    origins: { default: 'https://llm.example.com' },
    inject: [],
    usage: { format: 'openai' },
    models: { preset: 'openai' },
    toolUseMaxima: ['max_tool_calls'],
  },
};
const providers: readonly Provider[] = [
  ...catalogue.providers.filter(({ modelCalls }) => modelCalls.length > 0),
  toProvider(shortForm('own-openai'), catalogue.presetCalls),
  toProvider(declaring, catalogue.presetCalls),
];

let upstream: RawUpstream;
let gateway: ProxyFixture;
let agent: Agent;

beforeAll(async () => {
  upstream = await RawUpstream.start();
  agent = new Agent({ keepAlive: true });
  const messages = providers.map((provider) => ({
    ...buildUpstreams(provider, 'org-1', 'account-1', null).upstream,
    accountStatus: 'active',
    origin: upstream.origin,
    tenantAddress: false,
  }));
  const { upstreams } = decodeContext(createContextMessage({ upstreams: messages }));
  const agentLimits = createTestLimits({ agentId: 'agent-1', budgetCents: 100_000_000, hardBudget: true });
  const context = createContext([...upstreams.values()], { agentLimits, unassignedProviders: new Set() });
  const prices = new CallCostCalculator(() => PRICES_AT);
  const metering = new ProviderMetering(prices, { appendDeferredUsage: () => {} }, MAX_EDITED_BODY_BYTES);
  gateway = await ProxyFixture.start(context, {}, metering);
  gateway.admission = createRejectedAdmission('budget', 0);
});
afterAll(async () => {
  agent.destroy();
  await gateway.stop();
  expect(upstream.text).toBe('');
  upstream.stop();
});

const send = (target: string, body: object): Promise<ReservationOutcome> =>
  reserveThroughPipeline(gateway, agent, {
    path: `/v1/proxy/${target}`,
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify(body)),
  });

const search = (model: string) => ({
  model,
  max_output_tokens: 100,
  input: 'Hi',
  tools: [{ type: 'web_search' }],
  max_tool_calls: 2,
});
const anthropicSearch = (model: string) => ({
  model,
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hi' }],
  tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }],
});
const VERTEX = 'vertex/v1/projects/p/locations/us-east5/publishers/anthropic/models/claude-sonnet-4-6:rawPredict';

test.each([
  ['openai/v1/responses', search('gpt-5')],
  ['azure-openai/openai/v1/responses', search('gpt-5')],
  ['own-declaring/v1/responses', search('gpt-5')],
  ['anthropic/v1/messages', anthropicSearch('claude-sonnet-4-6')],
  [VERTEX, anthropicSearch('claude-sonnet-4-6')],
])('tool use maxima: %s reserves for the stated maximum of uses', async (target, body) => {
  expect(await send(target, body)).toEqual({ kind: 'reserved', nanos: expect.any(Number) });
});

test.each([
  ['xai/v1/responses', search('grok-4-0709')],
  ['xai/v1/messages', anthropicSearch('grok-4-0709')],
  ['openrouter/api/v1/responses', search('openai/gpt-5')],
  ['openrouter/api/v1/messages', anthropicSearch('anthropic/claude-sonnet-4.6')],
  ['groq/openai/v1/responses', search('openai/gpt-oss-120b')],
  ['perplexity/v1/responses', search('sonar')],
  ['openai-compatible/v1/responses', search('gpt-5')],
  ['own-openai/v1/responses', search('gpt-5')],
])('tool use maxima: %s is rejected, because the provider may ignore the maximum', async (target, body) => {
  expect(await send(target, body)).toMatchObject({ kind: 'rejected', status: 403, body: { denied: 'unmetered' } });
  // Only the search has no bound.
  expect(await send(target, { ...body, tools: [] })).toMatchObject({ kind: 'reserved' });
});

test('tool use maxima: the vendors that invented them, and those that run their models, keep to them', () => {
  const declared = providers.flatMap(({ slug, rules }) => (rules.toolUseMaxima ?? []).map((name) => `${slug} ${name}`));
  expect(declared.sort()).toEqual([
    'anthropic max_uses',
    'azure-openai max_tool_calls',
    'openai max_tool_calls',
    'own-declaring max_tool_calls',
    'vertex max_uses',
  ]);
});
