import { describe, expect, it } from 'vitest';
import { RequestBody } from '../listener/buffered-or-streamed-request-body.js';
import { chatStream } from '../metering/testing/provider-responses-fixture.js';
import { CallCostCalculator } from '../pricing/call-cost-calculator.js';
import type { RoutedExchange } from './exchange.js';
import { ProviderMetering } from './provider-metering.js';
import { createTestExchange } from './testing/exchange-fixture.js';

const metering = new ProviderMetering(
  new CallCostCalculator(() => Date.parse('2026-11-20')),
  { appendDeferredUsage: () => undefined },
  1000,
);

function createExchange(routed: object = {}): RoutedExchange {
  const exchange = createTestExchange({
    request: { method: 'POST', headers: ['content-type', 'application/json'] },
    routed: {
      target: { providerPath: '/v1/chat/completions', query: null },
      upstream: {
        providerSlug: 'openai',
        priceProvider: 'openai',
        usageFormat: 'openai',
        isCustom: false,
        origin: 'https://api.openai.com',
      },
      ...routed,
    },
    body: { bytes: 100 },
  });
  exchange.upstreamCall.status = 200;
  return exchange;
}

const head = {
  headers: [],
  contentLength: -1,
  mediaType: 'text/event-stream',
  contentEncoding: '',
  urlHeaderIndexes: null,
};

describe('provider metering', () => {
  it('books a streamed chat call by its usage, which a caller that did not request it does not see', () => {
    const exchange = createExchange();
    const body = Buffer.from('{"model":"gpt-5-mini","stream":true}');
    expect(metering.requestBytesToBufferForEdit(exchange)).toBe(1000);
    expect(metering.scanAndEditRequestBody(exchange, body).toString()).toContain('"include_usage":true');
    const edit = metering.createMeterAndBodyEdit(exchange, head)!;
    const answer = chatStream({ texts: ['Hi'], includeUsage: true });
    exchange.metering.meter!.observe(answer);
    const seen = Buffer.concat([edit.push(answer), edit.flush()]);
    expect(seen).toEqual(chatStream({ texts: ['Hi'], includeUsage: false }));
    // By hand: 86 × $0.25 + 1920 × $0.025 + 300 × $2, per million.
    expect(metering.priceUsage(exchange, exchange.metering.meter!.finish(true))).toEqual({
      costNanos: 669_500,
      source: 'library',
    });
  });

  it('shows the usage to a caller that requested it', () => {
    const exchange = createExchange();
    const body = Buffer.from('{"model":"m","stream":true,"stream_options":{"include_usage":true}}');
    expect(metering.scanAndEditRequestBody(exchange, body)).toBe(body);
    expect(metering.createMeterAndBodyEdit(exchange, head)).toBeNull();
  });

  it.each([
    ['a custom provider', { providerSlug: 'ours', priceProvider: '', usageFormat: 'openai', isCustom: true }],
    ['a built-in one that speaks its format', { providerSlug: 'mistral', usageFormat: 'openai', isCustom: false }],
  ])('meters %s without editing it, which only OpenAI requires', (_what, upstream) => {
    const exchange = createExchange({ upstream });
    const body = Buffer.from('{"model":"m","stream":true}');
    expect(metering.requestBytesToBufferForEdit(exchange)).toBe(0);
    expect(metering.scanAndEditRequestBody(exchange, body)).toBe(body);
    expect(exchange.metering.requestModel).toBe('m');
  });

  it('reads the model of a streamed body', async () => {
    const exchange = createExchange({ target: { providerPath: '/v1/responses', query: null } });
    const body = new RequestBody({ pause: () => {}, resume: () => {} }, 4);
    const bytes = (text: string): ArrayBuffer => new Uint8Array(Buffer.from(text)).buffer;
    body.push(bytes('{"mod'), false);
    body.push(bytes('el":"gpt-'), false);
    exchange.metering.requestScanner = metering.createRequestScanner(exchange);
    body.observer = exchange.metering.requestScanner;
    const stream = body.toStream();
    body.push(bytes('5-nano"}'), true);
    const sent: Buffer[] = [];
    for await (const part of stream) sent.push(part as Buffer);
    expect(Buffer.concat(sent).toString()).toBe('{"model":"gpt-5-nano"}');
    metering.createMeterAndBodyEdit(exchange, { ...head, mediaType: 'application/json' });
    expect(exchange.metering.requestModel).toBe('gpt-5-nano');
  });
});
