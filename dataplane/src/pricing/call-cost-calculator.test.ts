import { findLibraryPlan } from '@acg/base/pricing/genai-prices-adapter';
import type { PricedUpstream } from '@acg/base/pricing/price-list';
import type { IModelPrice } from '@acg/proto/messages';
import { findProvider } from '@pydantic/genai-prices';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEmptyCounts } from '../metering/reading/provider-usage-to-token-counts.js';
import type { UsageReading } from '../metering/reading/response-usage-meter-interface.js';
import { createUsageReading } from '../metering/reading/usage-reader-interface.js';
import { CallCostCalculator } from './call-cost-calculator.js';
import { CALL_WITHOUT_MODEL, type MaxCostInput } from './max-cost.js';

const NOW = Date.parse('2026-11-20T00:00:00Z');
const openai: PricedUpstream = {
  providerSlug: 'openai',
  priceProvider: 'openai',
  usageFormat: 'openai',
  origin: 'https://api.openai.com',
};
const anthropic: PricedUpstream = {
  providerSlug: 'anthropic',
  priceProvider: 'anthropic',
  usageFormat: 'anthropic',
  origin: 'https://api.anthropic.com',
};
const custom = (slug: string, origin: string): PricedUpstream => ({
  providerSlug: slug,
  priceProvider: '',
  usageFormat: 'openai',
  origin,
});

const image = (images: number, imageKind: string) => ({ images, imageKind, out: images * 4_160 });

function usage(
  model: string | null,
  counts: Partial<ReturnType<typeof createEmptyCounts>>,
  extras: Parameters<typeof createUsageReading>[3] = {},
): UsageReading {
  return createUsageReading({ ...createEmptyCounts(), ...counts }, 'reported', model, extras);
}

const table = (now = NOW): CallCostCalculator => new CallCostCalculator(() => now);

describe('price: golden cases, calculated by hand from the published lists', () => {
  const cases: [string, PricedUpstream, UsageReading, number][] = [
    // gpt-5-mini $0.25 in, $0.025 cached, $2.00 out: 86×250 + 1920×25 + 300×2000 nanos = 21 500 + 48 000 + 600 000
    ['gpt-5-mini', openai, usage('gpt-5-mini-2025-08-07', { inUncached: 86, cacheRead: 1920, out: 300 }), 669_500],
    // Haiku 4.5 $1, 5m write $1.25, 1h write $2, hit $0.10, out $5, search $10/1000:
    // 25×1000 + 300×1250 + 100×2000 + 3000×100 + 503×5000 + 2×10 000 000
    [
      'claude-haiku-4-5 with cache and searches',
      anthropic,
      usage('claude-haiku-4-5-20251001', {
        inUncached: 25,
        cacheWrite: 400,
        cacheWrite1h: 100,
        cacheRead: 3000,
        out: 503,
        webSearches: 2,
      }),
      25_000 + 375_000 + 200_000 + 300_000 + 2_515_000 + 20_000_000,
    ],
    // Each model has its own band start: gpt-5.4 ≤ 272k $2.50, above $5
    ['gpt-5.4, 272 000 tokens', openai, usage('gpt-5.4', { inUncached: 272_000 }), 680_000_000],
    ['gpt-5.4, 272 001 tokens', openai, usage('gpt-5.4', { inUncached: 272_001 }), 1_360_005_000],
    ['claude-sonnet-4-5, 200 000 tokens', anthropic, usage('claude-sonnet-4-5', { inUncached: 200_000 }), 600_000_000],
    // gpt-6-sol ≤ 272k: $2 / $10; above: $4 / $15 for the whole request
    [
      'gpt-6-sol, 272 000 tokens',
      openai,
      usage('gpt-6-sol', { inUncached: 272_000, out: 100 }),
      544_000_000 + 1_000_000,
    ],
    [
      'gpt-6-sol, 272 001 tokens, most of them cached',
      openai,
      usage('gpt-6-sol', { inUncached: 1, cacheRead: 272_000, out: 100 }),
      4_000 + 108_800_000 + 1_500_000,
    ],
    // 1000 x $0.25 + 100 x $2 a million, three file searches at $2.50 a thousand, two containers at $0.03
    [
      'hosted tools',
      openai,
      usage('gpt-5-mini', { inUncached: 1000, out: 100, fileSearches: 3, containers: 2 }),
      450_000 + 7_500_000 + 60_000_000,
    ],
    // gpt-image-1.5 costs $8 image in, $5 text in, $32 out: 10×5000 + 40×8000 + 300×32000
    [
      'an image tool',
      openai,
      usage('gpt-5-mini', {
        out: 100,
        generatedImages: { model: 'gpt-image-1.5', tokensIn: 50, imageTokensIn: 40, tokensOut: 300 },
      }),
      200_000 + 50_000 + 320_000 + 9_600_000,
    ],
    // $0.05 per hour, five minutes
    ['code execution', anthropic, usage('claude-haiku-4-5', { codeSessions: 1 }), 4_166_667],
    // Priced per image: the model's tokens cost nothing in addition
    ['tts-1', openai, usage('tts-1', { characters: 1_000, inUncached: 250, out: 1_500 }), 15_000_000],
    ['tts-1-hd', openai, usage('tts-1-hd-1106', { characters: 1 }), 30_000],
    ['dall-e-3', custom('ours', 'https://x'), usage('dall-e-3', image(2, '1024x1024')), 80_000_000],
    ['dall-e-3, hd', openai, usage('dall-e-3', image(1, 'hd 1792x1024')), 120_000_000],
    ['dall-e-3, an odd size', openai, usage('dall-e-3', image(1, '7x7')), 120_000_000],
    ['dall-e-2, small', openai, usage('dall-e-2', image(3, '256x256')), 48_000_000],
    ['gpt-image-1, unreported', openai, usage('gpt-image-1', image(1, '1024x1024')), 4_160 * 40_000],
    ['gpt-4o-mini-tts', openai, usage('gpt-4o-mini-tts', { characters: 900, inUncached: 225, out: 1_350 }), 16_335_000],
    ['sora-2', openai, usage('sora-2', { videoSeconds: 8 }), 800_000_000],
    ['sora-2-pro', openai, usage('sora-2-pro', { videoSeconds: 8 }), 2_400_000_000],
    ['sora-2-pro, large', openai, usage('sora-2-pro', { videoSeconds: 8, largeVideo: true }), 4_000_000_000],
    // Half of $2 / $10
    [
      'gpt-6-sol, a line of a batch',
      openai,
      usage('gpt-6-sol', { inUncached: 1000, out: 100 }, { serviceTier: 'batch' }),
      1_000_000 + 500_000,
    ],
    // Opus 5.5 $4 / $20, us region 1.1×: (1000×4000 + 100×20000) × 1.1
    [
      'claude-opus-5-5 in the us',
      anthropic,
      usage('claude-opus-5-5', { inUncached: 1000, out: 100 }, { inferenceGeo: 'us' }),
      6_600_000,
    ],
    // Opus 5.5 fast mode $8 / $40
    [
      'claude-opus-5-5 fast',
      anthropic,
      usage('claude-opus-5-5', { inUncached: 1000, out: 100 }, { speed: 'fast' }),
      12_000_000,
    ],
    // Flex is half, priority twice: 1000×250 + 100×2000 = 450 000
    ['flex', openai, usage('gpt-5-mini', { inUncached: 1000, out: 100 }, { serviceTier: 'flex' }), 225_000],
    ['priority', openai, usage('gpt-5-mini', { inUncached: 1000, out: 100 }, { serviceTier: 'priority' }), 900_000],
    ['ultrafast', openai, usage('gpt-5-mini', { inUncached: 1000, out: 100 }, { serviceTier: 'ultrafast' }), 2_700_000],
    // GPT-5.5 in fast mode: $12.50 / $75 instead of $5 / $30
    ['gpt-5.5 fast', openai, usage('gpt-5.5', { inUncached: 1000, out: 100 }, { serviceTier: 'fast' }), 20_000_000],
    // Fable 5.2 $8, hit $0.20, $40
    [
      'claude-fable-5-2',
      anthropic,
      usage('claude-fable-5-2', { inUncached: 1000, cacheRead: 1000, out: 100 }),
      8_000_000 + 200_000 + 4_000_000,
    ],
    ['default tier', openai, usage('gpt-5-mini', { inUncached: 1000, out: 100 }, { serviceTier: 'default' }), 450_000],
    // Haiku 5.5 ≤ 100k prompt: $0.10 / $0.50; above: $0.50 / $2.50
    ['claude-haiku-5-5', anthropic, usage('claude-haiku-5-5', { inUncached: 1000, out: 1000 }), 600_000],
    [
      'claude-haiku-5-5, long prompt',
      anthropic,
      usage('claude-haiku-5-5-20261007', { inUncached: 150_000, out: 1000 }),
      77_500_000,
    ],
    // GPT-6.1 Terra $1 / $0.05 cached / $5
    [
      'gpt-6.1-terra',
      openai,
      usage('gpt-6.1-terra', { inUncached: 1000, cacheRead: 1000, out: 1000 }),
      1_000_000 + 50_000 + 5_000_000,
    ],
    // text-embedding-3-small $0.02: 8 × 20 nanos
    ['embeddings', openai, usage('text-embedding-3-small', { inUncached: 8 }), 160],
    // whisper-1 $0.006 a minute
    ['whisper-1', openai, usage('whisper-1', { audioSeconds: 60 }), 6_000_000],
    // gpt-image-1 text in $5, image in $10, out $40
    [
      'gpt-image-1',
      openai,
      usage('gpt-image-1', { inUncached: 50, imageIn: 40, out: 4160 }),
      50_000 + 400_000 + 166_400_000,
    ],
    // gpt-audio $2.50 text in, $32 audio in, $10 text out, $64 audio out
    [
      'gpt-audio',
      openai,
      usage('gpt-audio', { inUncached: 100, audioIn: 90, out: 200, audioOut: 150 }),
      25_000 + 2_880_000 + 500_000 + 9_600_000,
    ],
    // rounding: one token of text-embedding-3-small is 20 nanos, of gpt-5-nano cached 5 nanos, half up only below 1 nano
    ['gpt-5-nano, one cached token', openai, usage('gpt-5-nano', { cacheRead: 1 }), 5],
  ];
  it.each(cases)('%s', (_name, upstream, reading, nanos) => {
    expect(table().calculateCost({ upstream, reading })).toEqual({ costNanos: nanos, source: 'library' });
  });

  it('charges the lower band for a prompt of exactly the round number, at every vendor', () => {
    const wrong: string[] = [];
    for (const providerId of ['openai', 'anthropic', 'google', 'x-ai']) {
      for (const { id } of findProvider({ providerId })!.models) {
        for (const { aboveTokensIn } of findLibraryPlan({ providerId }, id, NOW)?.bands.slice(1) ?? []) {
          if (aboveTokensIn % 1_000 !== 0) wrong.push(`${id}: ${aboveTokensIn}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('charges sonnet-5-5 cache hits $0.20 before 2026-10-07, $0.10 after', () => {
    const reading = usage('claude-sonnet-5-5', { cacheRead: 1000 });
    const before = table(Date.parse('2026-10-06T23:59:59Z')).calculateCost({ upstream: anthropic, reading });
    expect(before.costNanos).toBe(200_000);
    expect(table().calculateCost({ upstream: anthropic, reading }).costNanos).toBe(100_000);
  });
});

describe('price: unknown models', () => {
  it('cost as much as the most expensive current text model of the provider, marked as fallback', () => {
    // gpt-5.5-pro $30 / $180; Fable 5.1 $10 / $50
    const reading = usage('gpt-9-secret', { inUncached: 1000, out: 1000 });
    expect(table().calculateCost({ upstream: openai, reading })).toEqual({
      costNanos: 210_000_000,
      source: 'fallback',
    });
    expect(table().calculateCost({ upstream: anthropic, reading })).toEqual({
      costNanos: 60_000_000,
      source: 'fallback',
    });
    expect(table().calculateCost({ upstream: openai, reading: usage(null, { out: 1 }) })).toEqual({
      costNanos: 180_000,
      source: 'fallback',
    });
  });

  it('fall back to the most expensive of the current generations in the library', () => {
    const current = { openai: /^gpt-(5\.[4-9]|6)/, anthropic: /^claude-(?:opus|sonnet|haiku|fable)-(?:4-[5-9]|5)/ };
    for (const [providerId, pattern] of Object.entries(current)) {
      const upstream = providerId === 'openai' ? openai : anthropic;
      const cost = (model: string): number =>
        table().calculateCost({ upstream, reading: usage(model, { inUncached: 1000, out: 1000 }) }).costNanos;
      const names = findProvider({ providerId })!.models.map((model) => model.id);
      const highestCost = Math.max(...names.filter((name) => pattern.test(name) && !name.includes('image')).map(cost));
      expect(cost('unknown-model')).toBe(highestCost);
    }
  });

  it("cost as much as the library's most expensive model of a vendor without a built-in list", () => {
    const mistral = { ...openai, providerSlug: 'mistral', priceProvider: 'mistral' };
    // mistral-medium-2312 $2.70 / $8.10
    const reading = usage('in-house-model', { inUncached: 1000, out: 1000 });
    expect(table().calculateCost({ upstream: mistral, reading })).toEqual({
      costNanos: 10_800_000,
      source: 'fallback',
    });
  });

  it("cost as much as at the format's vendor when the library does not know the provider", () => {
    const reading = usage('in-house-model', { inUncached: 1000, out: 1000 });
    const unknownProvider = { ...openai, providerSlug: 'unknown', priceProvider: 'unknown' };
    expect(table().calculateCost({ upstream: unknownProvider, reading })).toEqual({
      costNanos: 210_000_000,
      source: 'fallback',
    });
  });

  it('custom providers: by address, by slug, by name anywhere, else the most expensive of the format', () => {
    const cost = (upstream: PricedUpstream, model: string) =>
      table().calculateCost({ upstream, reading: usage(model, { inUncached: 1_000_000 }) });
    expect(cost(custom('ours', 'https://llm.example'), 'gpt-5-mini')).toEqual({
      costNanos: 250_000_000,
      source: 'library',
    });
    expect(cost(custom('ours', 'https://api.groq.com'), 'llama-3.1-8b-instant')).toEqual({
      costNanos: 50_000_000,
      source: 'library',
    });
    expect(cost(custom('ours', 'https://llm.example'), 'in-house-model')).toEqual({
      costNanos: 60_000_000_000,
      source: 'fallback',
    });
  });
});

describe('price: overrides', () => {
  const prices = [
    { provider: 'resend', model: '', perRequestNanos: 400_000 },
    { provider: 'openai', model: '', perRequestNanos: 7 },
    { provider: 'openai', model: 'gpt-5-mini', rates: { input: 1_000_000, output: 4_000_000 } },
    {
      provider: 'openai',
      model: 'my-model',
      rates: { input: 1_000_000, output: 4_000_000, cacheRead: 100_000 },
    },
    { provider: 'ours', model: '*', rates: { input: 0, output: 0 } },
  ];
  const withPrices = (...more: IModelPrice[]): CallCostCalculator => {
    const priced = table();
    priced.replaceOverrides({ prices: [...prices, ...more] });
    return priced;
  };
  const nanos = (priced: CallCostCalculator, upstream: PricedUpstream, reading: UsageReading): number =>
    priced.calculateCost({ upstream, reading }).costNanos;

  it('take precedence over the library, also for a dated snapshot, and add to the per-request price', () => {
    // $1 in, $4 out from the override, $0.025 cached from the list
    const reading = usage('gpt-5-mini-2025-08-07', { inUncached: 1000, cacheRead: 1000, out: 1000 });
    expect(withPrices().calculateCost({ upstream: openai, reading })).toEqual({
      costNanos: 1_000_000 + 25_000 + 4_000_000 + 7,
      source: 'override',
    });
    const mine = usage('my-model', { inUncached: 1000, cacheRead: 1000, out: 1000 });
    expect(nanos(withPrices(), openai, mine)).toBe(5_100_007);
  });

  it('an override equal to the list price of claude-opus-5-5 changes no price, including cache writes', () => {
    const priced = withPrices({
      provider: 'anthropic',
      model: 'claude-opus-5-5',
      rates: { input: 4_000_000, output: 20_000_000, cacheRead: 200_000 },
    });
    // 5-minute writes cost 1.25×, one-hour writes 2× the input price
    const hour = usage('claude-opus-5-5', { cacheWrite: 1_000_000, cacheWrite1h: 1_000_000 });
    const minutes = usage('claude-opus-5-5', { cacheWrite: 1_000_000 });
    expect(nanos(priced, anthropic, hour)).toBe(8_000_000_000);
    expect(nanos(priced, anthropic, minutes)).toBe(5_000_000_000);
    const fast = usage('claude-opus-5-5', { inUncached: 1000 }, { speed: 'fast', inferenceGeo: 'us' });
    expect(nanos(priced, anthropic, fast)).toBe(nanos(table(), anthropic, fast));
  });

  it('keep the band of long prompts, unless the override names bands', () => {
    const gpt = { provider: 'openai', model: 'gpt-6-sol', rates: { input: 1_000_000 } };
    const long = usage('gpt-6-sol', { inUncached: 300_000, out: 1000 });
    // $4 / $15 above 272k
    expect(nanos(withPrices(gpt), openai, long)).toBe(1_200_000_000 + 15_000_000 + 7);
    const own = { ...gpt, bands: { bands: [{ aboveTokensIn: 300_000, rates: { input: 9_000_000 } }] } };
    // The first band applies up to the named border; above it, a price not in the band stays the list's $15
    expect(nanos(withPrices(own), openai, long)).toBe(300_000_000 + 10_000_000 + 7);
    const longer = usage('gpt-6-sol', { inUncached: 300_001, out: 1000 });
    expect(nanos(withPrices(own), openai, longer)).toBe(2_700_009_000 + 15_000_000 + 7);
    const none = { ...gpt, bands: { bands: [] } };
    expect(nanos(withPrices(none), openai, longer)).toBe(300_001_000 + 10_000_000 + 7);
  });

  it('change only the price that they name, for each price', () => {
    const changed: [string, IModelPrice, PricedUpstream, UsageReading, number][] = [
      ['cache write', { rates: { cacheWrite: 7e6 } }, anthropic, usage('claude-opus-5-5', { cacheWrite: 10 }), 70_000],
      [
        'cache write of an hour',
        { rates: { cacheWrite1h: 9e6 } },
        anthropic,
        usage('claude-opus-5-5', { cacheWrite: 10, cacheWrite1h: 10 }),
        90_000,
      ],
      ['audio in', { rates: { audioIn: 1e6 } }, openai, usage('gpt-audio', { audioIn: 10 }), 10_000],
      ['audio out', { rates: { audioOut: 2e6 } }, openai, usage('gpt-audio', { out: 10, audioOut: 10 }), 20_000],
      ['image in', { rates: { imageIn: 3e6 } }, openai, usage('gpt-image-1', { imageIn: 10 }), 30_000],
      ['web search', { picoPerWebSearch: 1e9 }, anthropic, usage('claude-opus-5-5', { webSearches: 2 }), 2_000_000],
      ['file search', { picoPerFileSearch: 1e9 }, openai, usage('gpt-5-mini', { fileSearches: 2 }), 2_000_000],
      ['container', { picoPerContainer: 1e9 }, openai, usage('gpt-5-mini', { containers: 2 }), 2_000_000],
      ['code', { picoPerCodeSession: 1e9 }, anthropic, usage('claude-opus-5-5', { codeSessions: 2 }), 2_000_000],
      ['audio second', { picoPerAudioSecond: 1e9 }, openai, usage('whisper-1', { audioSeconds: 2 }), 2_000_000],
      ['video second', { picoPerVideoSecond: 1e9 }, openai, usage('sora-2', { videoSeconds: 2 }), 2_000_000],
      [
        'large video second',
        { picoPerLargeVideoSecond: 1e9 },
        openai,
        usage('sora-2', { videoSeconds: 2, largeVideo: true }),
        2_000_000,
      ],
      ['character', { picoPerCharacter: 1e9 }, openai, usage('tts-1', { characters: 2 }), 2_000_000],
      ['image', { images: [{ kind: '7x7', pico: 1e9 }] }, openai, usage('dall-e-3', image(2, '7x7')), 2_000_000],
      ['batch', { tiers: { batch: 10 } }, openai, usage('gpt-5-mini', { out: 10 }, { serviceTier: 'batch' }), 2_000],
      ['flex', { tiers: { flex: 10 } }, openai, usage('gpt-5-mini', { out: 10 }, { serviceTier: 'flex' }), 2_000],
      [
        'priority',
        { tiers: { priority: 300 } },
        openai,
        usage('gpt-5-mini', { out: 10 }, { serviceTier: 'priority' }),
        60_000,
      ],
      ['fast', { tiers: { fast: 300 } }, anthropic, usage('claude-opus-5-5', { out: 10 }, { speed: 'fast' }), 600_000],
      ['us', { tiers: { us: 200 } }, anthropic, usage('claude-opus-5-5', { out: 10 }, { inferenceGeo: 'us' }), 400_000],
    ];
    for (const [what, change, upstream, reading, expected] of changed) {
      const priced = table();
      priced.replaceOverrides({ prices: [{ provider: upstream.providerSlug, model: reading.model, ...change }] });
      expect([what, nanos(priced, upstream, reading)]).toEqual([what, expected]);
      // Another dimension keeps its price.
      const other = usage(reading.model, { cacheRead: 1000 });
      expect([what, nanos(priced, upstream, other)]).toEqual([what, nanos(table(), upstream, other)]);
    }
  });

  it('an override of the input price changes prices that the list derives from it', () => {
    const override = { provider: 'openai', model: 'in-house', rates: { input: 2_000_000, output: 0 } };
    expect(nanos(withPrices(override), openai, usage('in-house', { cacheWrite: 10, cacheWrite1h: 10 }))).toBe(
      20_000 + 7,
    );
  });

  it('of several start dates the latest past one applies, to the second', () => {
    let now = Date.parse('2026-11-30T23:59:59.999Z');
    const priced = new CallCostCalculator(() => now);
    const fromMs = Date.parse('2026-12-01');
    priced.replaceOverrides({
      prices: [
        { provider: 'openai', model: 'gpt-5-mini', fromMs, rates: { input: 5_000_000 } },
        { provider: 'openai', model: 'gpt-5-mini', rates: { input: 1_000_000 } },
        { provider: 'openai', model: 'gpt-5-nano', fromMs, rates: { input: 5_000_000 } },
      ],
    });
    const reading = usage('gpt-5-mini', { inUncached: 1000 });
    expect(nanos(priced, openai, reading)).toBe(1_000_000);
    const nano = usage('gpt-5-nano', { inUncached: 1000 });
    expect(priced.calculateCost({ upstream: openai, reading: nano })).toEqual({ costNanos: 50_000, source: 'library' });
    now += 1;
    expect(nanos(priced, openai, reading)).toBe(5_000_000);
    expect(nanos(priced, openai, nano)).toBe(5_000_000);
  });

  it('per request: resend costs a price per e-mail, a call without usage only its own price', () => {
    const resend = {
      providerSlug: 'resend',
      priceProvider: '',
      usageFormat: 'resend',
      origin: 'https://api.resend.com',
    };
    const sent = createUsageReading(createEmptyCounts(), 'none', null, { units: 3 });
    expect(withPrices().calculateCost({ upstream: resend, reading: sent })).toEqual({
      costNanos: 1_200_000,
      source: 'per_request',
    });
    expect(table().calculateCost({ upstream: resend, reading: sent })).toEqual({ costNanos: 0, source: 'none' });
  });

  it("a model's own per-request price replaces its provider's; an unlisted model has no other price", () => {
    const priced = withPrices({ provider: 'openai', model: 'flat', perRequestNanos: 900 });
    const flat = usage('flat', { inUncached: 1000, out: 1000 });
    expect(priced.calculateCost({ upstream: openai, reading: flat })).toEqual({ costNanos: 900, source: 'override' });
    const listed = withPrices({ provider: 'openai', model: 'gpt-5-nano', perRequestNanos: 900 });
    expect(nanos(listed, openai, usage('gpt-5-nano', { inUncached: 1000 }))).toBe(50_000 + 900);
  });

  it('`*` prices every model without its own price, also as free', () => {
    const reading = usage('in-house-model', { inUncached: 1000 });
    const cost = withPrices().calculateCost({ upstream: custom('ours', 'https://llm.example'), reading });
    expect(cost).toEqual({ costNanos: 0, source: 'override' });
  });

  it('are replaced as a whole, together with cached plans', () => {
    const priced = withPrices();
    const reading = usage('gpt-5-mini', { inUncached: 1000 });
    expect(priced.calculateCost({ upstream: openai, reading }).source).toBe('override');
    priced.replaceOverrides({ prices: [] });
    expect(priced.calculateCost({ upstream: openai, reading })).toEqual({ costNanos: 250_000, source: 'library' });
  });

  it('of a control plane of the previous release replace all token prices of a model', () => {
    const priced = table();
    priced.replaceOverrides({
      overrides: [
        { provider: 'resend', model: '', perRequestNanos: 400_000 },
        { provider: 'openai', model: 'gpt-6-sol', inputPicoPerToken: 1_000_000, outputPicoPerToken: 4_000_000 },
        { provider: 'openai', model: 'flat', perRequestNanos: 900 },
      ],
    });
    const reading = usage('gpt-6-sol', { inUncached: 300_000, cacheWrite: 1000, out: 1000 });
    expect(nanos(priced, openai, reading)).toBe(300_000_000 + 1_000_000 + 4_000_000);
    expect(nanos(priced, openai, usage('flat', { inUncached: 1000 }))).toBe(900);
  });
});

describe('price: arithmetic', () => {
  it('is exact for any counts (checked against BigInt), never negative, never above a safe integer', () => {
    const count = fc.oneof(fc.nat(1000), fc.nat(100_000_000));
    const prices = table();
    fc.assert(
      fc.property(count, count, count, (inUncached, cacheRead, out) => {
        // Fable 5.1: $10 in, $0.25 hit, $50 out
        const reading = usage('claude-fable-5-1', { inUncached, cacheRead, out }, { inferenceGeo: 'us' });
        const pico = BigInt(inUncached) * 10_000_000n + BigInt(cacheRead) * 250_000n + BigInt(out) * 50_000_000n;
        const nanos = (pico * 110n + 50_000n) / 100_000n;
        expect(prices.calculateCost({ upstream: anthropic, reading }).costNanos).toBe(Number(nanos));
      }),
    );
  });
});

describe('price: maximum cost of a call', () => {
  const baseCall: MaxCostInput = { ...CALL_WITHOUT_MODEL, model: 'gpt-5-mini', tokensIn: 1_000, tokensOut: 100 };
  const bound = (changes: Partial<MaxCostInput>): number =>
    table().calculateMaxCostNanos(openai, { ...baseCall, ...changes });

  it('is never below the actual cost', () => {
    const count = fc.nat(5_000);
    fc.assert(
      fc.property(
        count,
        count,
        count,
        fc.constantFrom('flex', 'priority', 'ultrafast', null),
        (inUncached, cacheRead, out, serviceTier) => {
          const reading = usage('gpt-5-mini', { inUncached, cacheRead, out }, { serviceTier });
          const speed = serviceTier === 'priority' ? 'fast' : serviceTier === 'ultrafast' ? 'dearest' : 'usual';
          const most = bound({ tokensIn: inUncached + cacheRead, tokensOut: out, speed });
          expect(table().calculateCost({ upstream: openai, reading }).costNanos).toBeLessThanOrEqual(most);
        },
      ),
    );
  });

  it('covers a video of the larger size, and speech of the lowest quality', () => {
    expect(bound({ model: 'sora-2-pro', videoSeconds: 20 })).toBe(20 * 500_000_000);
    expect(bound({ model: 'sora-2', videoSeconds: 20 })).toBe(20 * 100_000_000);
    expect(bound({ videoSeconds: 0 })).toBe(bound({}));
    expect(bound({ model: 'tts-1', bytesIn: 4_000 })).toBe(60_000_000);
    expect(bound({ model: 'dall-e-3', images: 3 })).toBe(3 * 120_000_000);
    // 1 000 s at $0.006 per minute
    expect(bound({ model: 'whisper-1', audioSeconds: 1_000, tokensOut: 0 })).toBe(100_000_000);
    expect(bound({ model: 'whisper-1', audioSeconds: null })).toBe(Number.MAX_SAFE_INTEGER);
    expect(bound({ model: 'gpt-4o-transcribe', audioSeconds: null })).toBeLessThan(1_000_000_000);
  });
});
