/** One span per recorded call, sent to a collector that may be slow, reject, hang or be down. */

import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { request as httpRequest } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';
import { Stack } from '../fixtures/stack.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { encodeReport, newId, usageRecord } from '../ledger/usage-fixture.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { findAttribute, OtlpCollector } from './otlp-collector.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

describe('spans of recorded calls', () => {
  const collector = new OtlpCollector();
  let plane: TestControlPlane;
  beforeAll(async () => {
    await collector.start();
    plane = await startControlPlane({
      LOG_LEVEL: 'info',
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=collector%20secret',
      OTEL_EXPORTER_OTLP_TIMEOUT: '60000',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_BSP_SCHEDULE_DELAY: '1',
      OTEL_BSP_MAX_QUEUE_SIZE: '20',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10',
    });
  });
  afterAll(async () => {
    collector.fault = null;
    await plane?.stop();
    await collector.stop();
  });
  beforeEach(() => {
    collector.fault = null;
    collector.spans.length = 0;
  });

  const report = (records: readonly ReturnType<typeof usageRecord>[]) =>
    plane.service.usage.ingest.ingestReport(encodeReport({ dataPlaneId: 'dp', records: [...records] }));
  const arrived = (count: number) => waitUntil(`${count} spans`, () => collector.spans.length >= count);

  async function outcomes(): Promise<Record<string, number>> {
    const { body } = await plane.call('GET', '/metrics');
    const lines = String(body).matchAll(/^gateway_trace_spans_total\{outcome="(\w+)"\} (\d+)$/gm);
    return Object.fromEntries([...lines].map(([, outcome, count]) => [outcome, Number(count)]));
  }

  test('traces: a generation has the usage of the ledger and the parent of the caller', async () => {
    const record = usageRecord({ traceparent: `00-${TRACE}-${PARENT}-01`, startedAtMs: Date.now() - 1_000 });
    await report([record]);
    await arrived(1);
    const [span] = collector.spans;
    const value = (key: string) => findAttribute(span!.attributes, key);
    expect(span).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, name: 'chat gpt-4o-mini', kind: 3, status: {} });
    expect(span!.startTimeUnixNano).toBe(`${record.startedAtMs}000000`);
    expect(span!.endTimeUnixNano).toBe(`${Number(record.startedAtMs) + 250}000000`);
    expect({
      operation: value('gen_ai.operation.name'),
      model: value('gen_ai.response.model'),
      tokensIn: value('gen_ai.usage.input_tokens'),
      tokensOut: value('gen_ai.usage.output_tokens'),
      agentId: value('acg.agent.id'),
      costUsd: value('acg.cost.usd'),
      status: value('http.response.status_code'),
      requestId: value('acg.request.id'),
    }).toEqual({
      operation: 'chat',
      model: 'gpt-4o-mini',
      tokensIn: '123',
      tokensOut: '50',
      agentId: record.agentId,
      costUsd: 0.001_234_567,
      status: '200',
      requestId: record.id,
    });
    const resource = collector.resources.at(-1)!;
    expect(findAttribute(resource, 'service.name')).toBe('agent-credential-gateway');
    expect(findAttribute(resource, 'deployment.environment.name')).toBe('test');
    expect(collector.headers.at(-1)!['x-api-key']).toBe('collector secret');
    expect(collector.problems).toEqual([]);
  });

  test('traces: a record that arrives twice creates one span', async () => {
    const record = usageRecord();
    await report([record]);
    await report([record, usageRecord()]);
    await arrived(2);
    const before = collector.requests;
    await report([record]);
    await report([usageRecord()]);
    await arrived(3);
    expect(collector.requests - before).toBe(1);
    expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(3);
  });

  test.each([
    ['no traceparent', ''],
    ['nonsense', 'hello'],
    ['an id of zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
    ['a parent of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['a forbidden version', `ff-${TRACE}-${PARENT}-01`],
    ['version 0 with more parts', `00-${TRACE}-${PARENT}-01-x`],
    ['capitals', `00-${TRACE.toUpperCase()}-${PARENT}-01`],
  ])('traces: %s starts a trace with the request id as its id', async (_what, traceparent) => {
    const record = usageRecord({ traceparent });
    await report([record]);
    await arrived(1);
    expect(collector.spans[0]).not.toHaveProperty('parentSpanId');
    expect(collector.spans[0]!.traceId).toBe(String(record.id).replaceAll('-', ''));
  });

  test('traces: a caller with an unsampled trace gets no span', async () => {
    const quiet = usageRecord({ traceparent: `00-${TRACE}-${PARENT}-00` });
    const sampled = usageRecord({ traceparent: `01-${TRACE}-${PARENT}-01-later` });
    await report([quiet, sampled]);
    await arrived(1);
    expect(collector.spans.map(({ spanId }) => spanId)).toEqual([String(sampled.id).replaceAll('-', '').slice(16)]);
  });

  test('traces: a failed call and a call without a generation are marked', async () => {
    await report([
      usageRecord({ status: 0, responseStatus: 504, error: 'timeout' }),
      usageRecord({ method: 'GET', path: '/v1/models' }),
    ]);
    await arrived(2);
    const failed = collector.spans.find((span) => span.status.code === 2)!;
    expect(findAttribute(failed.attributes, 'error.type')).toBe('timeout');
    const listing = collector.spans.find((span) => span !== failed)!;
    expect(listing.name).toBe('GET openai');
    expect(findAttribute(listing.attributes, 'gen_ai.operation.name')).toBeUndefined();
  });

  test('traces: a call that fetched batch results has the cost of their deferred usage', async () => {
    const of = { orgId: newId(), agentId: newId(), keyId: newId(), startedAtMs: Date.now() };
    const recordId = newId();
    const results = { method: 'GET', path: '/v1/files/f/content', costNanos: 0, lined: true };
    const record = usageRecord({ ...of, ...results, id: recordId });
    const fetch = { ...of, recordId, providerSlug: 'openai', sourceId: `f-${recordId}` };
    const line = (id: string) => ({ id, model: 'gpt-4o-mini', tokensOut: 7, costNanos: 2_000_000 });
    const ingest = plane.service.usage.ingest;
    // Deferred usage arrives before the record of its call, some in an earlier batch.
    await ingest.ingestReport(encodeReport({ dataPlaneId: 'dp', lines: [{ ...fetch, lines: [line('a')] }] }));
    const rest = { ...fetch, lines: [line('a'), line('b')] };
    await ingest.ingestReport(encodeReport({ dataPlaneId: 'dp', records: [record], lines: [rest] }));
    await arrived(1);
    expect(findAttribute(collector.spans[0]!.attributes, 'acg.cost.usd')).toBe(0.004);
    const again = { ...record, id: newId() };
    await ingest.ingestReport(
      encodeReport({ dataPlaneId: 'dp', records: [again], lines: [{ ...rest, recordId: again.id }] }),
    );
    await arrived(2);
    expect(findAttribute(collector.spans[1]!.attributes, 'acg.cost.usd')).toBe(0);
  });

  test.each([
    ['/v1/images/generations', 'image'],
    ['/v1/images/edits', 'image'],
    ['/v1/audio/speech', 'speech'],
    ['/v1/audio/transcriptions', 'text'],
  ])('traces: %s is a generation with its own output type', async (path, outputType) => {
    await report([usageRecord({ path, model: 'm-1', tokensOut: 40 })]);
    await arrived(1);
    const [span] = collector.spans;
    expect(span!.name).toBe('generate_content m-1');
    const value = (key: string) => findAttribute(span!.attributes, key);
    expect(value('gen_ai.operation.name')).toBe('generate_content');
    expect(value('gen_ai.output.type')).toBe(outputType);
    expect(value('gen_ai.usage.output_tokens')).toBe('40');
  });

  test('traces: permanently rejected spans are not sent again; temporarily rejected spans are', async () => {
    collector.fault = (response) => response.writeHead(400).end();
    const before = await outcomes();
    const requests = collector.requests;
    await report([usageRecord()]);
    await waitUntil('it is refused', async () => ((await outcomes()).rejected ?? 0) === (before.rejected ?? 0) + 1);
    expect(collector.requests - requests).toBe(1);
    collector.fault = (response) => {
      collector.fault = null;
      response.writeHead(503, { 'retry-after': '0' }).end();
    };
    await report([usageRecord()]);
    await arrived(1);
  });

  test('traces: spans missing from a partial success count as rejected', async () => {
    collector.fault = (response) => response.writeHead(200).end('{"partialSuccess":{"rejectedSpans":"2"}}');
    const before = await outcomes();
    await report([usageRecord(), usageRecord(), usageRecord()]);
    await waitUntil('two are rejected', async () => ((await outcomes()).rejected ?? 0) === (before.rejected ?? 0) + 2);
    expect((await outcomes()).sent).toBe((before.sent ?? 0) + 1);
  });

  test('traces: a hanging collector delays no ledger write; spans above the queue limit are dropped and counted', async () => {
    collector.fault = () => {}; // never responds
    const before = await outcomes();
    for (let i = 0; i < 10; i++) {
      const { rejected } = await report(Array.from({ length: 10 }, () => usageRecord()));
      expect(rejected).toEqual([]);
    }
    await waitUntil('the rest is dropped', async () => ((await outcomes()).dropped ?? 0) > (before.dropped ?? 0));
    const { body } = await plane.call('GET', '/metrics');
    expect(Number(/^gateway_trace_spans_queued (\d+)$/m.exec(String(body))![1])).toBeLessThanOrEqual(20);
    // 100 arrived; at most one batch is in flight and two wait.
    expect((await outcomes()).dropped! - (before.dropped ?? 0)).toBeGreaterThanOrEqual(70);
  });

  test('traces: the log names neither the header nor its value', () => {
    expect(plane.logLines.join('')).toContain('the trace collector does not accept spans');
    expect(plane.logLines.join('')).not.toContain('collector secret');
  });
});

test('traces: through both planes, the agent’s traceparent is the parent, and the tokens equal those of the log', async () => {
  const collector = new OtlpCollector();
  const openai = new OpenAiStandIn();
  await Promise.all([collector.start(), openai.start()]);
  const stack = await Stack.start({
    providers: { openai: openai.origin },
    env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`, OTEL_BSP_SCHEDULE_DELAY: '1' },
  });
  try {
    const tenant = await stack.signUpTenant();
    const agent = await tenant.createAgent();
    await tenant.createAccount(agent.id, 'openai', { apiKey: PROVIDER_CREDENTIALS.openai });
    const token = await tenant.createToken(agent.id);
    const { url } = await stack.addDataPlane();
    const answer = await httpRequest(`${url}/v1/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        traceparent: `00-${TRACE}-${PARENT}-01`,
      },
      body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'hello' }] }),
    });
    expect(answer.statusCode).toBe(200);
    const requestId = answer.headers['x-gateway-request-id'];
    await answer.body.dump();
    const span = await waitUntil('the span has arrived', () => collector.spans[0]);
    const { body } = await tenant.call('GET', `/v1/usage/agents/${agent.id}/logs`);
    const [log] = body.logs;
    const value = (key: string) => findAttribute(span.attributes, key);
    expect(span).toMatchObject({ traceId: TRACE, parentSpanId: PARENT });
    expect(value('acg.request.id')).toBe(requestId);
    expect(value('gen_ai.usage.input_tokens')).toBe(String(log.tokensIn));
    expect(value('gen_ai.usage.output_tokens')).toBe(String(log.tokensOut));
    expect(collector.problems).toEqual([]);
    expect(collector.spans).toHaveLength(1);
  } finally {
    await stack.stop();
    await Promise.all([collector.stop(), openai.close()]);
  }
});
