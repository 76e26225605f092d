/** Which budget rows count a call, and what responses and usage records say about rows, tags and audit mode. */
import { calendarWindowAt } from '@acg/dataplane/limits/calendar-window';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestBudget, createTestLimits } from '../limits/testing/agent-limits-fixture.js';
import { ADMITTED, createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from './testing/proxy-fixture.js';
import { RawUpstream, waitUntil } from './testing/raw-peer-fixture.js';

const CHAT = '/v1/chat/completions';
const METERED = { usageFormat: 'openai', modelCalls: [{ call: `POST ${CHAT}`, at: 'json' }] } as const;
const ALL = createTestBudget({ id: 'all', window: 'week', limitNanos: 1_000 });
const GPT = createTestBudget({ id: 'gpt', limitNanos: 1_000, models: ['gpt-*'] });
const ACME = createTestBudget({ id: 'acme', limitNanos: 1_000, tag: 'customer=acme' });
const RUN = createTestBudget({
  id: 'run-1',
  scope: 'run',
  scopeId: 'run-1',
  window: 'total',
  mode: 'soft',
  limitNanos: 9,
});

let upstream: RawUpstream;
let gateway: ProxyFixture;

beforeEach(async () => {
  upstream = await RawUpstream.start();
  gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin, METERED)]), {
    bufferedBodyBytesMax: 64,
    editedBodyBytesMax: 1_000,
  });
  use([ALL, GPT, ACME]);
});
afterEach(async () => {
  await gateway.stop();
  upstream.stop();
});

function use(budgets: readonly (typeof ALL)[], upstreamChanges: object = METERED): void {
  const agentLimits = createTestLimits({ agentId: 'agent-1', budgets });
  const context = createContext([createUpstream(upstream.origin, upstreamChanges)], {
    agentLimits,
    runIds: ['run-1', 'run-0'],
  });
  gateway.lookup = { context, rejection: null };
}

async function call(body: string | null, headers: Record<string, string> = {}, path: string = CHAT): Promise<Response> {
  const { length } = upstream.connections;
  const response = fetch(`http://127.0.0.1:${gateway.port}/v1/proxy/openai${path}`, {
    method: body === null ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${GATEWAY_TOKEN}`, 'content-type': 'application/json', ...headers },
    body,
  });
  let rejected: Response | null = null;
  void response.then((answer) => (rejected = answer));
  // A connection alone says nothing: it may be opened before the call is admitted.
  const hasRequest = (): boolean => upstream.connections.at(length)?.text.includes('\r\n\r\n') ?? false;
  await waitUntil(() => rejected !== null || hasRequest());
  if (rejected !== null) return rejected;
  const provider = upstream.connections.at(length)!;
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
  return await response;
}

const countedBy = (): readonly string[] =>
  gateway.admissions.at(-1)!.limits.budgets.flatMap(({ id }) => (id === '' ? [] : id));

describe('the rows that count a call', () => {
  test.each([
    ['a model of the row', '{"model":"gpt-4o"}', {}, ['all', 'gpt']],
    ['another model', '{"model":"o3"}', {}, ['all']],
    ['a tag of the row', '{"model":"o3"}', { 'x-gateway-tag': 'feature=x, customer=acme' }, ['all', 'acme']],
    ['another tag', '{"model":"o3"}', { 'x-gateway-tag': 'customer=acme2' }, ['all']],
    ['no model: every row', '{"messages":[]}', {}, ['all', 'gpt']],
    ['a preset, which can replace the model: every row', '{"model":"o3@preset/x"}', {}, ['all', 'gpt']],
    ['a preset beside the model: every row', '{"model":"o3","preset":"x"}', {}, ['all', 'gpt']],
    ['two models: every row', '{"model":"o3","model":"gpt-4o"}', {}, ['all', 'gpt']],
    ['a body that is no JSON: every row', 'model=o3', {}, ['all', 'gpt']],
    ['a content encoding: every row', '{"model":"o3"}', { 'content-encoding': 'br' }, ['all', 'gpt']],
    ['a body that is too long to read: every row', `{"model":"o3","x":"${'x'.repeat(2_000)}"}`, {}, ['all', 'gpt']],
    ['a longer body', `{"model":"o3","x":"${'x'.repeat(500)}"}`, {}, ['all']],
  ])('%s', async (_what, body, headers, expected) => {
    expect((await call(body, headers)).status).toBe(200);
    expect(countedBy()).toEqual(expected);
  });

  test('a call that costs nothing is not counted by rows of models', async () => {
    expect((await call(null, {}, '/v1/models')).status).toBe(200);
    expect(countedBy()).toEqual(['all']);
  });

  test('a priced call to a provider without models is counted by rows of models', async () => {
    use([ALL, GPT], { usageFormat: 'none' });
    gateway.boundNanos = 5;
    expect((await call('{}', {}, '/emails')).status).toBe(200);
    expect(countedBy()).toEqual(['all', 'gpt']);
  });

  test('a hard row of another model needs no reservation', async () => {
    const hard = createTestBudget({ id: 'hard', limitNanos: 1_000, models: ['gpt-*'], mode: 'hard' });
    use([hard]);
    gateway.boundNanos = 7;
    expect((await call('{"model":"o3","max_completion_tokens":1}')).status).toBe(200);
    expect([countedBy(), gateway.admissions.at(-1)!.reservationNanos]).toEqual([[], 0]);
    expect((await call('{"model":"gpt-4o","max_completion_tokens":1}')).status).toBe(200);
    expect([countedBy(), gateway.admissions.at(-1)!.reservationNanos]).toEqual([['hard'], 7]);
    expect((await call('{"model":"gpt-4o","model":"o3"}')).status).toBe(403);
  });
});

test('usage record: names rows with their windows, tags, run, day and what would have rejected', async () => {
  use([ALL, GPT, ACME, RUN]);
  gateway.admission = { ...ADMITTED, wouldReject: 'rpm,budget:acme' };
  const response = await call('{"model":"gpt-4o"}', { 'x-gateway-tag': 'feature=x,customer=acme' });
  expect(response.headers.get('x-gateway-would-reject')).toBe('rpm,budget:acme');
  await waitUntil(() => gateway.records.length === 1);
  const at = ADMITTED.admittedAtSec;
  const day = calendarWindowAt('day', at).name;
  expect(gateway.records[0]).toMatchObject({
    tags: 'customer=acme,feature=x',
    runId: 'run-1',
    day,
    budgetRows: `all@${calendarWindowAt('week', at).name},gpt@${day},acme@${day},run-1@total`,
    wouldReject: 'rpm,budget:acme',
  });
  expect(upstream.text).not.toContain('x-gateway-tag');
  expect(gateway.settlements.every(({ limits }) => limits === gateway.admissions[0]!.limits)).toBe(true);
});

test('audit: the answer has no header where nothing would have rejected', async () => {
  const response = await call('{"model":"gpt-4o"}');
  expect(response.headers.has('x-gateway-would-reject')).toBe(false);
});

test('rejection: names the row that rejected, in the response and in the rejected call', async () => {
  const row = createTestBudget({
    id: 'row-1',
    window: 'week',
    limitNanos: 5e7,
    models: ['gpt-*'],
    tag: 'a=b',
    scope: 'org',
  });
  use([row]);
  gateway.admission = {
    ...ADMITTED,
    outcome: 'budget',
    rejectedByBudget: row,
    retryAtSec: 1_900_000_000,
    spentNanos: 6e7,
  };
  const response = await call('{"model":"gpt-4o"}', { 'x-gateway-tag': 'a=b' });
  expect(response.status).toBe(429);
  expect(await response.json()).toEqual({
    error: 'The weekly budget of the organization for models gpt-* for calls with the tag a=b is spent.',
    message: 'The weekly budget of the organization for models gpt-* for calls with the tag a=b is spent.',
    limitType: 'budget',
    scope: 'org',
    budgetId: 'row-1',
    window: 'week',
    models: ['gpt-*'],
    tag: 'a=b',
    spentCents: 6,
    budgetCents: 5,
    resetAt: 1_900_000_000,
  });
  expect([gateway.rejections, gateway.rejectedCalls[0]?.budgetId]).toEqual([['openai budget_org'], 'row-1']);
});

test.each([
  ['no value', 'customer='],
  ['no key', '=acme'],
  ['no equals sign', 'customer'],
  ['an upper-case key', 'Customer=acme'],
  ['a key of 33 characters', `${'k'.repeat(33)}=v`],
  ['a value of 65 characters', `k=${'v'.repeat(65)}`],
  ['five tags', 'a=1,b=2,c=3,d=4,e=5'],
  ['one key twice', 'a=1,a=1'],
  ['an empty tag', 'a=1,,b=2'],
  ['a control character', 'a=b\tc'],
  ['a character beyond ASCII', 'a=\u00e9'],
])('tags: 400 for %s', async (_what, value) => {
  const response = await call('{"model":"gpt-4o"}', { 'x-gateway-tag': value });
  expect(response.status).toBe(400);
  expect(((await response.json()) as { error: string }).error).toContain('x-gateway-tag');
  expect(gateway.admissions).toHaveLength(0);
});

test('tags: takes the longest key and value', async () => {
  const tag = `${'k'.repeat(32)}=${'~ ='.repeat(21)}~`;
  expect((await call('{"model":"gpt-4o"}', { 'x-gateway-tag': `${tag},b=2` })).status).toBe(200);
  await waitUntil(() => gateway.records.length === 1);
  expect(gateway.records[0]!.tags).toBe(`b=2,${tag}`);
});

test('self: shows every row with its window, filters and mode', async () => {
  use([
    ALL,
    createTestBudget({ id: 'x', window: 'total', limitNanos: 2e7, models: ['o*'], tag: 'a=b', mode: 'audit' }),
  ]);
  const headers = { authorization: `Bearer ${GATEWAY_TOKEN}` };
  const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/self`, { headers });
  const { budgets } = (await response.json()) as { budgets: object[] };
  const zero = { spentCents: 0, heldCents: 0, spentUsd: 0, heldUsd: 0 };
  expect(budgets).toEqual([
    expect.objectContaining({ budgetId: 'all', scope: 'agent', window: 'week', mode: 'soft', ...zero }),
    {
      ...{ budgetId: 'x', scope: 'agent', window: 'total', models: ['o*'], tag: 'a=b', mode: 'audit' },
      ...{ budgetCents: 2, ...zero, resetAt: null },
    },
  ]);
  expect(budgets[0]).toMatchObject({ resetAt: calendarWindowAt('week', ADMITTED.admittedAtSec).endSec });
});
