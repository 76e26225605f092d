import {
  Agent,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as send,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ProviderMetering } from '../call/provider-metering.js';
import {
  createContext,
  createUpstream,
  GATEWAY_TOKEN,
  PROVIDER_KEY,
  ProxyFixture,
} from '../call/testing/proxy-fixture.js';
import { waitUntil } from '../call/testing/raw-peer-fixture.js';
import { createTestLimits } from '../limits/testing/agent-limits-fixture.js';
import { chatStream, messagesStream, responsesStream } from '../metering/testing/provider-responses-fixture.js';
import { CallCostCalculator } from '../pricing/call-cost-calculator.js';
import { CALL_WITHOUT_MODEL } from '../pricing/max-cost.js';

const metering = () =>
  new ProviderMetering(new CallCostCalculator(() => Date.parse('2026-11-20')), { appendDeferredUsage: () => {} }, 1e6);
/** Price of one output token of gpt-5-mini, nano-dollars. */
const TOKEN_OUT_NANOS = 2_000;

let provider: Server;
let gateway: ProxyFixture;
/** Responds to the next request. */
let answer: (response: ServerResponse) => void;
let providerLost: boolean;

beforeEach(async () => {
  providerLost = false;
  provider = createServer((request, response) => {
    response.on('close', () => {
      providerLost = !response.writableFinished;
    });
    request.resume().on('end', () => answer(response));
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  gateway = await start({});
});
afterEach(async () => {
  await gateway.stop();
  provider.closeAllConnections();
  provider.close();
});

function start(
  terms: Parameters<typeof createTestLimits>[0],
  usageFormat: 'openai' | 'anthropic' = 'openai',
): Promise<ProxyFixture> {
  const origin = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const upstream = createUpstream(origin, { usageFormat, priceProvider: usageFormat });
  const given = { agentId: 'agent-1', budgetCents: 100, hardBudget: true, defaultMaxOutputTokens: 40, ...terms };
  return ProxyFixture.start(createContext([upstream], { agentLimits: createTestLimits(given) }), {}, metering());
}

async function restart(...how: Parameters<typeof start>): Promise<void> {
  await gateway.stop();
  gateway = await start(...how);
}

interface Got {
  readonly body: string;
  readonly status: number;
  /** The connection broke before the end of the response. */
  readonly broken: boolean;
}

function begin(path = '/v1/chat/completions', body: object = {}, agent?: Agent) {
  const text = JSON.stringify({ model: 'gpt-5-mini', stream: true, ...body });
  const headers = { authorization: `Bearer ${GATEWAY_TOKEN}`, 'content-type': 'application/json' };
  const options = {
    port: gateway.port,
    path: `/v1/proxy/openai${path}`,
    method: 'POST',
    headers,
    ...(agent && { agent }),
  };
  const request = send(options).end(text);
  const got = new Promise<Got>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response: IncomingMessage) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece) => pieces.push(piece));
      response.on('error', () => {});
      response.on('close', () => {
        const whole = Buffer.concat(pieces).toString();
        resolve({ body: whole, status: response.statusCode!, broken: !response.complete });
      });
    });
  });
  return { request, got };
}

const call = (...of: Parameters<typeof begin>): Promise<Got> => begin(...of).got;

/** A chat response has one chunk for each word. */
const words = (count: number): string[] => Array.from({ length: count }, (_, i) => ` w${i}`);
const chat = (count: number): Buffer => chatStream({ texts: words(count), includeUsage: true });
const sse = (response: ServerResponse): ServerResponse => {
  response.setHeader('content-type', 'text/event-stream').flushHeaders(); // without a content-length
  return response;
};
const pieces = (body: string): number => body.split('"content":" w').length - 1;
const heldNanos = (): number =>
  gateway.admissions[0]!.reservationNanos + gateway.growths.reduce((sum, nanos) => sum + nanos, 0);

describe('budget cut', () => {
  test('a stream that exceeds its reservation ends with an error event, and its forwarded part is billed', async () => {
    answer = (response) => sse(response).end(chat(500)); // in one write
    const { body, broken, status } = await call();
    expect({ broken, status }).toEqual({ broken: false, status: 200 });
    expect(body).toMatch(
      /\n\ndata: {"error":{"message":"[^"]+","type":"budget_cut","param":null,"code":"budget_cut"}}\n\n$/,
    );
    expect(body).not.toContain('[DONE]');
    // Three quarters of 40 tokens, and the chunk that shows that they are used up.
    expect(pieces(body)).toBe(31);
    expect(gateway.growths).toHaveLength(1);
    const [record] = gateway.records;
    expect(record).toMatchObject({ error: 'budget_cut', status: 200, responseStatus: 200, tokensOut: 31 });
    expect(record!.usageSource).toBe('estimated');
    expect(record!.circuitOutcome).toBe(0);
    expect(gateway.settlements).toMatchObject([{ reservationNanos: gateway.admissions[0]!.reservationNanos }]);
    expect(gateway.settlements[0]!.costNanos).toBeLessThanOrEqual(gateway.admissions[0]!.reservationNanos);
    expect(gateway.exceeded).toEqual([]);
  });

  test('aborts the upstream call', async () => {
    answer = (response) => {
      sse(response).write(chat(60).subarray(0, -30));
    };
    expect((await call()).body).toContain('budget_cut');
    await waitUntil(() => providerLost);
  });

  test('does not send the beginning of an echoed credential at the cut', async () => {
    answer = (response) => {
      // Where lines end with CR only, one read is forwarded as a whole.
      const events = chatStream({ texts: words(60), includeUsage: false, newline: '\r' }).toString();
      const echo = `data: {"echo":"${PROVIDER_KEY.slice(0, -4)}`;
      sse(response).write(events.slice(0, events.indexOf('data: [DONE]')) + echo);
    };
    const { body } = await call();
    expect(body).toContain('budget_cut');
    expect(body).not.toContain(PROVIDER_KEY.slice(0, 4));
  });

  test('the agent’s connection stays usable', async () => {
    answer = (response) => sse(response).end(chat(500));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await begin('/v1/chat/completions', {}, agent).got;
    const { request, got } = begin('/v1/chat/completions', {}, agent);
    expect((await got).body).toContain('budget_cut');
    expect(request.reusedSocket).toBe(true);
    agent.destroy();
  });

  test('grows the reservation by a quarter and loses no bytes while the budget allows', async () => {
    gateway.growthsMax = 100;
    answer = (response) => sse(response).end(chat(500));
    const { body } = await call();
    expect(body).toBe(chatStream({ texts: words(500), includeUsage: false }).toString());
    const [first, ...others] = gateway.growths;
    expect(first).toBe(Math.ceil(gateway.admissions[0]!.reservationNanos / 4));
    expect(others.length).toBeGreaterThan(5);
    expect(gateway.records[0]).toMatchObject({ error: '', tokensOut: 300, usageSource: 'reported' });
    expect(gateway.settlements).toHaveLength(1);
    expect(gateway.settlements[0]!.reservationNanos).toBe(heldNanos());
  });

  test('never forwards more than is reserved, for any grants and chunk sizes', async () => {
    const stream = chat(300);
    await fc.assert(
      fc.asyncProperty(fc.nat(12), fc.array(fc.nat(stream.length), { maxLength: 12 }), async (growthsMax, cuts) => {
        for (const list of [gateway.growths, gateway.admissions, gateway.settlements]) list.length = 0;
        gateway.growthsMax = growthsMax;
        const edges = [0, ...cuts.sort((a, b) => a - b), stream.length];
        answer = (response) => {
          sse(response);
          const next = (i: number): void => {
            if (i === edges.length) response.end();
            else response.write(stream.subarray(edges[i - 1]!, edges[i]!), () => setImmediate(next, i + 1));
          };
          next(1);
        };
        const { body } = await call();
        const { costNanos, reservationNanos: holdNanos } = gateway.settlements[0]!;
        if (body.includes('budget_cut')) {
          expect(costNanos).toBeLessThanOrEqual(holdNanos);
          expect(
            body.startsWith(
              chatStream({ texts: words(pieces(body)), includeUsage: false })
                .toString()
                .split('data: {"id"')
                .slice(0, -1)
                .join('data: {"id"'),
            ),
          ).toBe(true);
        } else expect(pieces(body)).toBe(300);
      }),
      { numRuns: 40 },
    );
  }, 30_000);

  test('a stated maximum that the provider obeys needs no growth', async () => {
    answer = (response) => sse(response).end(chat(40));
    const { body } = await call('/v1/chat/completions', { max_completion_tokens: 40 });
    expect(body).toContain('[DONE]');
    expect(gateway.growths).toEqual([]);
    expect(gateway.records[0]).toMatchObject({ error: '' });
  });

  test('cuts a response that exceeds its stated maximum', async () => {
    answer = (response) => sse(response).end(chat(500));
    const { body } = await call('/v1/chat/completions', { max_completion_tokens: 40 });
    expect(body).toContain('budget_cut');
    expect(gateway.settlements[0]!.costNanos).toBeLessThanOrEqual(gateway.admissions[0]!.reservationNanos);
  });

  test('several answers share one reservation', async () => {
    answer = (response) => sse(response).end(chat(100));
    const { body } = await call('/v1/chat/completions', { max_completion_tokens: 40, n: 3 });
    expect(body).toContain('[DONE]');
    expect(gateway.growths).toEqual([]);
  });

  test('a soft budget reserves nothing', async () => {
    await restart({ hardBudget: false });
    answer = (response) => sse(response).end(chat(500));
    expect((await call()).body).toContain('[DONE]');
    expect(gateway.growths).toEqual([]);
    expect(gateway.settlements[0]).toMatchObject({ reservationNanos: 0 });
  });

  test('hidden reasoning is billed when reported, counted as above the reservation, and not cut', async () => {
    answer = (response) => sse(response).end(chat(20)); // 300 tokens by its usage
    const { body } = await call();
    expect(body).toContain('[DONE]');
    expect(gateway.records[0]).toMatchObject({ error: '', tokensOut: 300, tokensReasoning: 128 });
    const { costNanos, reservationNanos: holdNanos } = gateway.settlements[0]!;
    expect(costNanos).toBeGreaterThan(holdNanos);
    expect(gateway.exceeded).toEqual([costNanos - holdNanos]);
  });

  test('an interim usage report counts as seen tokens', async () => {
    const head = '{"id":"c","object":"chat.completion.chunk","created":1,"model":"gpt-5-mini"';
    const reports = Array.from({ length: 100 }, (_, i) => {
      const usage = `{"prompt_tokens":5,"completion_tokens":${i + 1},"total_tokens":${i + 6}}`;
      return `data: ${head},"choices":[{"index":0,"delta":{"content":" w"}}],"usage":${usage}}\n\n`;
    });
    answer = (response) => sse(response).end(reports.join(''));
    const { body } = await call();
    expect(body).toContain('budget_cut');
    // Per the report: one more than was seen.
    expect(gateway.records[0]).toMatchObject({ error: 'budget_cut', tokensOut: 32 });
  });
});

describe('budget cut: each format has its own last event', () => {
  test('responses', async () => {
    answer = (response) => sse(response).end(responsesStream(words(500)));
    const { body } = await call('/v1/responses', { input: 'x' });
    const [name, data] = body.trimEnd().split('\n').slice(-2);
    expect(name).toBe('event: error');
    expect(JSON.parse(data!.slice(6))).toMatchObject({
      type: 'error',
      code: 'budget_cut',
      error: { code: 'budget_cut' },
    });
    expect(body).not.toContain('response.completed');
    expect(gateway.records[0]).toMatchObject({ error: 'budget_cut', tokensOut: 31 });
  });

  test('messages', async () => {
    await restart({}, 'anthropic');
    answer = (response) => sse(response).end(messagesStream(words(500)));
    const { body } = await call('/v1/messages', { model: 'claude-haiku-4-5' });
    const [name, data] = body.trimEnd().split('\n').slice(-2);
    expect(name).toBe('event: error');
    expect(JSON.parse(data!.slice(6))).toMatchObject({ type: 'error', error: { type: 'budget_cut' } });
    expect(body).not.toContain('message_stop');
    expect(gateway.records[0]).toMatchObject({ error: 'budget_cut', usageSource: 'partial' });
  });

  test('does not cut messages of a stated maximum for the size of their chunks', async () => {
    await restart({}, 'anthropic');
    answer = (response) => sse(response).end(messagesStream(Array.from({ length: 50 }, () => 'x'.repeat(400))));
    const { body } = await call('/v1/messages', { model: 'claude-haiku-4-5', max_tokens: 60 });
    expect(body).toContain('message_stop');
    expect(gateway.growths).toEqual([]);
  });

  test('goes on with a stream when a slow agent takes bytes again', async () => {
    await restart({}, 'anthropic');
    const stream = messagesStream(Array.from({ length: 50 }, () => 'x'.repeat(1_000_000)));
    const pieces = Array.from({ length: Math.ceil(stream.length / 65_536) }, (_, i) =>
      stream.subarray(i * 65_536, (i + 1) * 65_536),
    );
    let sent = (): number => 0;
    answer = (response) => {
      sent = () => response.socket!.bytesWritten;
      Readable.from(pieces).pipe(sse(response));
    };
    const { request, got } = begin('/v1/messages', { model: 'claude-haiku-4-5', max_tokens: 60 });
    const response = await new Promise<IncomingMessage>((resolve) => request.on('response', resolve));
    response.pause();
    let [before, quietTurns] = [0, 0];
    await waitUntil(() => {
      quietTurns = sent() === before ? quietTurns + 1 : 0;
      before = sent();
      return quietTurns === 100; // every buffer on the way is full
    });
    response.resume();
    expect((await got).body.length).toBe(stream.length);
    expect(gateway.records[0]).toMatchObject({ error: '' });
  });

  test('speech: the connection breaks', async () => {
    answer = (response) => response.setHeader('content-type', 'audio/mpeg').end(Buffer.alloc(8_000_000));
    const { broken } = await call('/v1/audio/speech', { model: 'gpt-4o-mini-tts', input: 'x' });
    expect(broken).toBe(true);
    expect(gateway.records[0]).toMatchObject({ error: 'budget_cut' });
    expect(gateway.settlements[0]!.costNanos).toBeLessThanOrEqual(gateway.admissions[0]!.reservationNanos);
  });

  test('a compressed stream: the connection breaks', async () => {
    answer = (response) => {
      sse(response.setHeader('content-encoding', 'gzip')).write(gzipSync(chat(5_000)));
      const more = setInterval(() => response.write(gzipSync(chat(50))), 5);
      response.on('close', () => clearInterval(more));
    };
    const { broken } = await call();
    expect(broken).toBe(true);
    await waitUntil(() => gateway.records.length === 1);
    expect(gateway.records[0]).toMatchObject({ error: 'budget_cut' });
  });

  test('a response of known length: the connection breaks', async () => {
    answer = (response) => response.setHeader('content-type', 'text/event-stream').end(responsesStream(words(500)));
    const { broken } = await call('/v1/responses', { input: 'x' });
    expect(broken).toBe(true);
    expect(gateway.records[0]).toMatchObject({ error: 'budget_cut' });
  });
});

describe('budget cut: while growth is pending', () => {
  beforeEach(() => {
    gateway.pendingGrowths = [];
  });

  test('forwards nothing; forwards buffered bytes and the end after the grant', async () => {
    answer = (response) => sse(response).end(chat(60));
    const { got } = begin();
    await waitUntil(() => gateway.pendingGrowths!.length === 1);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(gateway.records).toHaveLength(0);
    const grants = setInterval(() => gateway.pendingGrowths!.splice(0).forEach((done) => void done(true)), 1);
    expect((await got).body).toBe(chatStream({ texts: words(60), includeUsage: false }).toString());
    clearInterval(grants);
  });

  test.each([true, false])('a disconnected agent leaves nothing reserved; granted later: %s', async (granted) => {
    answer = (response) => void sse(response).write(chat(60));
    const { request, got } = begin();
    got.catch(() => {});
    await waitUntil(() => gateway.pendingGrowths!.length === 1);
    request.destroy();
    await waitUntil(() => gateway.records.length === 1);
    gateway.pendingGrowths![0]!(granted);
    const expected = granted ? heldNanos() : gateway.admissions[0]!.reservationNanos;
    await waitUntil(
      () => gateway.settlements.reduce((sum, { reservationNanos: holdNanos }) => sum + holdNanos, 0) === expected,
    );
    expect(gateway.records).toMatchObject([{ error: 'client_aborted' }]);
    await waitUntil(() => providerLost);
  });

  test('a failed upstream breaks the response, and a later grant is released', async () => {
    let die: () => void = () => {};
    answer = (response) => {
      sse(response).write(chat(60));
      die = () => response.destroy();
    };
    const { got } = begin();
    await waitUntil(() => gateway.pendingGrowths!.length === 1);
    die();
    gateway.pendingGrowths![0]!(true);
    const grants = setInterval(() => gateway.pendingGrowths!.splice(1).forEach((done) => void done(true)), 1);
    expect((await got).broken).toBe(true);
    clearInterval(grants);
    await waitUntil(
      () => gateway.settlements.reduce((sum, { reservationNanos: holdNanos }) => sum + holdNanos, 0) === heldNanos(),
    );
    expect(gateway.records).toMatchObject([{ error: 'upstream_cut' }]);
  });

  test('a revocation ends the stream', async () => {
    answer = (response) => void sse(response).write(chat(60));
    const { got } = begin();
    await waitUntil(() => gateway.pendingGrowths!.length === 1);
    gateway.server.sessionRevoker.revokeMatching(() => true);
    expect((await got).broken).toBe(true);
    gateway.pendingGrowths![0]!(true);
    await waitUntil(
      () => gateway.settlements.reduce((sum, { reservationNanos: holdNanos }) => sum + holdNanos, 0) === heldNanos(),
    );
    expect(gateway.records).toMatchObject([{ error: 'revoked' }]);
  });
});

test('the price of this file', () => {
  const prices = new CallCostCalculator(() => Date.parse('2026-11-20'));
  const upstream = { providerSlug: 'openai', priceProvider: 'openai', usageFormat: 'openai', origin: 'x' };
  const bound = { ...CALL_WITHOUT_MODEL, model: 'gpt-5-mini', tokensOut: 1 };
  expect(prices.calculateMaxCostNanos(upstream, bound)).toBe(TOKEN_OUT_NANOS);
});
