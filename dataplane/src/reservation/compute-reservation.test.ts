/** With a hard budget, a call is admitted only when its body bounds its cost. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from '../call/testing/proxy-fixture.js';
import { connectRaw, RawUpstream, waitUntil } from '../call/testing/raw-peer-fixture.js';
import { createTestLimits } from '../limits/testing/agent-limits-fixture.js';

let upstream: RawUpstream;
let gateway: ProxyFixture;

beforeEach(async () => {
  upstream = await RawUpstream.start();
  gateway = await ProxyFixture.start(createContext([]));
  budgeted('openai');
});
afterEach(async () => {
  await gateway.stop();
  upstream.stop();
});

function budgeted(usageFormat: 'openai' | 'none', usesBudget = true): void {
  const budget = usesBudget ? { budgetCents: 100, hardBudget: true, defaultMaxOutputTokens: 40 } : {};
  const modelCalls =
    usageFormat === 'none'
      ? []
      : [
          { call: '* /v1/chat/completions', at: 'json' },
          { call: '* /v1/messages/batches', at: 'batch' },
          { call: '* /deployments/*/chat', at: 'path:deployments' },
          { call: '* /v1/files', at: 'free' },
        ];
  const account = createUpstream(upstream.origin, { usageFormat, modelCalls });
  const terms = createTestLimits({ agentId: 'agent-1', ...budget });
  gateway.lookup = { context: createContext([account], { agentLimits: terms }), rejection: null };
}

/** Status and body of a rejection; null: the call has reached the provider. */
async function refused(path: string, body: object | string): Promise<[number, Record<string, unknown>] | null> {
  const text = typeof body === 'string' ? body : JSON.stringify({ model: 'gpt-5', ...body });
  const seen = upstream.text.length;
  const agent = await connectRaw(gateway.port);
  agent.send(
    `POST /v1/proxy/openai${path} HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  const answered = agent.waitUntil(() => /\r\n\r\n\{.*\}$/s.test(agent.text));
  const reached = waitUntil(() => upstream.text.length > seen || agent.closed);
  await Promise.race([answered, reached]);
  if (upstream.text.length > seen) {
    agent.socket.destroy();
    return null;
  }
  return [Number(agent.text.slice(9, 12)), JSON.parse(agent.text.slice(agent.text.indexOf('\r\n\r\n') + 4))];
}

const CHAT = '/v1/chat/completions';
const UNMETERED = [403, expect.objectContaining({ denied: 'unmetered' })];

test.each([
  ['an unknown call', '/v1/something', {}, UNMETERED],
  ['a batch', '/v1/messages/batches', { requests: [] }, UNMETERED],
  ['a path that names its model ambiguously', '/deployments/gpt-5%2Fchat/chat', {}, UNMETERED],
  ['an answer made in the background', CHAT, { background: true }, UNMETERED],
  ['a maximum that is no number', CHAT, { max_tokens: 'many' }, [400, expect.anything()]],
  ['two maxima', CHAT, { max_tokens: 5, max_completion_tokens: 6 }, [400, expect.anything()]],
  ['a body that is none', CHAT, 'model=gpt-5', [400, expect.anything()]],
])('reservation: rejects %s, and consumes nothing', async (_what, path, body, refusal) => {
  expect(await refused(path, body)).toEqual(refusal);
  expect([gateway.admissions.length, gateway.bounded.length]).toEqual([0, 0]);
  budgeted('openai', false);
  expect(await refused(path, body)).toBeNull(); // without a hard budget the cost needs no bound
});

test('reservation: covers the whole body and the stated or the agent’s maximum for each requested answer', async () => {
  const bodies = [{ max_tokens: 7 }, {}, { max_completion_tokens: 7, n: 3 }, { n: 2 }];
  for (const body of bodies) expect(await refused(CHAT, body)).toBeNull();
  const tokensIn = bodies.map((body) => JSON.stringify({ model: 'gpt-5', ...body }).length);
  expect(gateway.bounded).toMatchObject(
    [7, 40, 21, 80].map((tokensOut, at) => ({ model: 'gpt-5', tokensIn: tokensIn[at], tokensOut, units: 1 })),
  );
});

test('reservation: takes the model from the path, whatever the body names', async () => {
  expect(await refused('/deployments/gpt-5-mini/chat', { max_tokens: 7 })).toBeNull();
  expect(gateway.bounded).toMatchObject([{ model: 'gpt-5-mini', tokensOut: 7 }]);
  expect(await refused('/deployments/gpt-5-mini/chat', '{"max_tokens":7,"max_tokens":8}')).toEqual([
    403,
    expect.objectContaining({ denied: 'model' }),
  ]);
});

test('reservation: covers per-unit prices as often as one call can use them', async () => {
  budgeted('none');
  expect(await refused('/emails/batch', {})).toBeNull();
  expect(gateway.bounded).toMatchObject([{ model: null, tokensIn: 0, tokensOut: 0, units: 100 }]);
  budgeted('openai');
  expect(await refused('/v1/files', {})).toBeNull();
  expect(gateway.bounded.at(-1)).toMatchObject({ model: null, units: 1 });
});

const RUNS = { call: '* /v1/threads/*/runs', at: 'unknown' };
const SEEN = [
  { call: '* /v1/chat/completions', at: 'json' },
  { call: '* /v1/batches', at: 'answer' },
];

test.each<[string, Parameters<typeof createTestLimits>[0], boolean]>([
  ['no limit of cost', { rpmLimit: 60 }, false],
  ['a budget of the agent', { budgetCents: 100 }, true],
  ['a hard budget', { budgetCents: 100, hardBudget: true }, true],
  ['a budget of its project', { projectBudgetNanos: 5 }, true],
  ['a budget of its organization', { orgBudgetNanos: 5 }, true],
  ['a limit of tokens', { tpmLimit: 1_000 }, true],
])('unmetered: with %s, rejects calls whose cost no response reports: %s', async (_what, limits, isLimited) => {
  const given = (modelCalls: { call: string; at: string }[], custom = false): void => {
    const account = createUpstream(upstream.origin, { usageFormat: 'openai', modelCalls, isCustom: custom });
    const terms = createTestLimits({ agentId: 'agent-1', ...limits });
    gateway.lookup = { context: createContext([account], { agentLimits: terms }), rejection: null };
  };
  const isHard = limits?.hardBudget === true;
  given([RUNS, ...SEEN]);
  expect(await refused('/v1/threads/thread_1/runs', {})).toEqual(isLimited ? UNMETERED : null);
  expect(await refused('/v1/something', {})).toEqual(isLimited ? UNMETERED : null);
  expect(await refused(CHAT, {})).toBeNull();
  expect(await refused('/v1/batches', {})).toEqual(isHard ? UNMETERED : null);
  given([RUNS, ...SEEN], true); // a custom provider: only the calls of its format are metered
  expect(await refused('/v1/threads/thread_1/runs', {})).toEqual(isLimited ? UNMETERED : null);
  expect(await refused('/v1/rerank', {})).toEqual(isHard ? UNMETERED : null);
  given(SEEN); // a control plane of an older version
  expect(await refused('/v1/something', {})).toEqual(isHard ? UNMETERED : null);
});

test.each<[string, Parameters<typeof createTestLimits>[0], boolean]>([
  ['no limit of cost', { rpmLimit: 60 }, false],
  ['a budget', { budgetCents: 100 }, true],
  ['a hard budget', { budgetCents: 100, hardBudget: true }, true],
])('unmetered: with %s, rejects model calls that no usage format covers: %s', async (_what, limits, isLimited) => {
  const given = (modelCalls: { call: string; at: string }[], custom = false): void => {
    const usageRules = [{ calls: ['* /v2/**'], format: 'cohere' as const }];
    const account = createUpstream(upstream.origin, { usageFormat: 'none', usageRules, modelCalls, isCustom: custom });
    const terms = createTestLimits({ agentId: 'agent-1', ...limits });
    gateway.lookup = { context: createContext([account], { agentLimits: terms }), rejection: null };
  };
  const calls = [
    { call: '* /v2/chat', at: 'json' },
    { call: '* /v3/chat', at: 'json' },
    { call: '* /files', at: 'free' },
  ];
  const isHard = limits?.hardBudget === true;
  given([...calls, { call: '* /agents/**', at: 'unknown' }]);
  expect(await refused('/v2/chat', {})).toBeNull();
  expect(await refused('//v2/chat', {})).toEqual(isLimited ? UNMETERED : null); // providers may read it as /v2/chat
  expect(await refused('/agents/1', {})).toEqual(isLimited ? UNMETERED : null);
  expect(await refused('/v3/chat', {})).toEqual(isLimited ? UNMETERED : null);
  expect(await refused('/files', {})).toBeNull();
  given(calls); // a server that the agent's organization runs: only listed calls cost
  expect(await refused('//v2/chat', {})).toEqual(isHard ? UNMETERED : null);
  expect(await refused('/v3/chat', {})).toBeNull();
  given(calls, true);
  expect(await refused('//v2/chat', {})).toBeNull();
});
