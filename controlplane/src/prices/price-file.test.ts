import { PriceList } from '@acg/base/pricing/price-list';
import { describe, expect, it } from 'vitest';
import { encodeOperatorPrices } from './encode-operator-prices.js';
import { parsePriceFile } from './price-file.js';

const NOW = Date.parse('2026-11-20');
const BUILT_IN = ['openai', 'anthropic'];
const upstreamOf = (providerSlug: string) => ({
  providerSlug,
  priceProvider: BUILT_IN.includes(providerSlug) ? providerSlug : '',
  usageFormat: 'none',
  origin: '',
});
const read = (text: string) => parsePriceFile(text, upstreamOf, NOW);
const model = (entry: unknown, name = 'gpt-5-mini') => JSON.stringify({ openai: { models: { [name]: entry } } });

describe('price file', () => {
  it('reads prices of tools of MCP servers, which are found in any spelling and else by `*`', () => {
    const prices = read(
      JSON.stringify({
        'mcp/github-mcp/Delete_issue': [
          { perRequestUsd: 0.02, chargeErrors: true },
          { from: '2026-12-01', perRequestUsd: 0.03 },
        ],
        'mcp/github-mcp/*': { perRequestUsd: 0.001 },
        'mcp/our-mcp/a/b': { perRequestUsd: 0 },
      }),
    );
    let nowMs = NOW;
    const list = new PriceList(() => nowMs);
    list.replaceOverrides(prices.map(({ price }) => price));
    expect(list.findToolPrice('github-mcp', 'ＤELETE_issue')).toMatchObject({
      perRequestNanos: 20_000_000,
      chargesErrors: true,
    });
    expect(list.findToolPrice('github-mcp', 'read')).toMatchObject({
      perRequestNanos: 1_000_000,
      chargesErrors: false,
    });
    expect(list.findToolPrice('our-mcp', 'a/b')).toMatchObject({ perRequestNanos: 0 });
    expect(list.findToolPrice('our-mcp', 'a')).toBeNull();
    nowMs = Date.parse('2026-12-01');
    expect(list.findToolPrice('github-mcp', 'delete_issue')).toMatchObject({
      perRequestNanos: 30_000_000,
      chargesErrors: false,
    });
    const book = encodeOperatorPrices(prices, list, upstreamOf);
    expect(book.prices).toHaveLength(4);
    expect(book.overrides).toEqual([]);
  });

  it.each([
    ['{"mcp/github-mcp/a": {}}', 'must be an object with perRequestUsd'],
    ['{"mcp/github-mcp/a": {"perRequestUsd": -1}}', 'must be a number'],
    ['{"mcp/github-mcp/a": {"perRequestUsd": 1, "chargeErrors": 1}}', 'must be true or false'],
    ['{"mcp/github-mcp/a": {"perRequestUsd": 1, "inputPerMTok": 1}}', 'is no field that is known here'],
    ['{"mcp/github-mcp/a": []}', 'must name a price'],
    ['{"mcp/github-mcp/a": {"perRequestUsd": 1}, "mcp/github-mcp/A": {"perRequestUsd": 1}}', 'is the same tool'],
    ['{"mcp/github-mcp": {"perRequestUsd": 1}}', 'is no provider slug and no tool'],
  ])('rejects the price of a tool: %s', (text, problem) => {
    expect(() => read(text)).toThrow(problem);
  });

  it('reads every price that the meter knows into whole nano- and pico-dollars', () => {
    const [read1] = read(
      model({
        from: '2026-12-01',
        inputPerMTok: 1,
        outputPerMTok: 4.5,
        cachedInputPerMTok: 0.1,
        cacheWritePerMTok: 1.25,
        cacheWrite1hPerMTok: 2,
        audioInputPerMTok: 3,
        imageInputPerMTok: 5,
        audioOutputPerMTok: 6,
        imageOutputPerMTok: 7,
        perThousandWebSearchesUsd: 10,
        perThousandFileSearchesUsd: 2.5,
        perContainerUsd: 0.03,
        perCodeSessionUsd: 0.004,
        perAudioMinuteUsd: 0.006,
        perVideoSecondUsd: 0.1,
        perLargeVideoSecondUsd: 0.5,
        perMillionCharactersUsd: 15,
        perImageUsd: { '1024x1024': 0.04, 'hd 1024x1024': 0.08 },
        batchPercent: 40,
        flexPercent: 60,
        priorityPercent: 150,
        fastPercent: 250,
        ultrafastPercent: 500,
        usPercent: 120,
        bands: [{ aboveTokensIn: 200_000, inputPerMTok: 2, cacheWrite1hPerMTok: 4 }],
        perRequestUsd: 0.01,
      }),
    );
    expect(read1!.price).toEqual({
      provider: 'openai',
      model: 'gpt-5-mini',
      fromMs: Date.parse('2026-12-01'),
      rates: {
        input: 1e6,
        output: 4.5e6,
        cacheRead: 1e5,
        cacheWrite: 1.25e6,
        cacheWrite1h: 2e6,
        audioIn: 3e6,
        imageIn: 5e6,
        audioOut: 6e6,
        imageOut: 7e6,
      },
      picoPerWebSearch: 1e10,
      picoPerFileSearch: 2.5e9,
      picoPerContainer: 3e10,
      picoPerCodeSession: 4e9,
      picoPerAudioSecond: 1e8,
      picoPerVideoSecond: 1e11,
      picoPerLargeVideoSecond: 5e11,
      picoPerCharacter: 1.5e7,
      images: [
        { kind: '1024x1024', pico: 4e10 },
        { kind: 'hd 1024x1024', pico: 8e10 },
      ],
      tiers: { batch: 40, flex: 60, priority: 150, fast: 250, ultrafast: 500, us: 120 },
      bands: { bands: [{ aboveTokensIn: 200_000, rates: { input: 2e6, cacheWrite1h: 4e6 } }] },
      perRequestNanos: 1e7,
    });
  });

  it('says in which line each price stands, and what it names', () => {
    const prices = read(`{
  "resend": { "perRequestUsd": 0.0004 },
  "my-llm": { "models": { "*": { "inputPerMTok": 0, "outputPerMTok": 0 },
                          "flat": { "perRequestUsd": 0.01 } } },
  "openai": { "models": {
    "gpt-5-mini": [
      { "cacheWritePerMTok": 1 },

      { "from": "2026-12-01", "cacheWritePerMTok": 2 } ] } } }`);
    expect(prices.map(({ line, fields, price: { provider, model } }) => [line, provider, model, ...fields])).toEqual([
      [2, 'resend', '', 'perRequestUsd'],
      [3, 'my-llm', '*', 'inputPerMTok', 'outputPerMTok'],
      [4, 'my-llm', 'flat', 'perRequestUsd'],
      [7, 'openai', 'gpt-5-mini', 'cacheWritePerMTok'],
      [9, 'openai', 'gpt-5-mini', 'cacheWritePerMTok'],
    ]);
  });

  it.each([
    ['no JSON', '{', /JSON/],
    ['a list', '[]', /must hold a JSON object/],
    ['an odd slug', '{"Open AI":{}}', /line 1: Open AI is no provider slug/],
    ['an unknown field', '{"openai":\n{"perRequest":1}}', /line 2: openai.perRequest is no field that is known here/],
    ['an unknown field of a model', model({ input: 1 }), /openai.models\["gpt-5-mini"\].input is no field/],
    ['a name that stands twice', '{"openai":{"models":{}},\n"openai":{}}', /line 2: "openai" stands there twice/],
    ['a text for a number', '{"openai":{"perRequestUsd":"1"}}', /openai.perRequestUsd must be a number/],
    ['a negative price', '{"openai":{"perRequestUsd":-1}}', /must be a number from 0/],
    ['a slip of the decimal point', '{"openai":{"perRequestUsd":40000}}', /to 10000/],
    ['a price that would round to nothing', '{"openai":{"perRequestUsd":1e-12}}', /smaller than can be counted/],
    ['half a percent', model({ batchPercent: 0.5 }), /must be a whole number/],
    ['half a model that no list knows', model({ inputPerMTok: 1 }, 'm'), /is in no price list: name inputPerMTok and/],
    ['half a price of any model', model({ inputPerMTok: 1 }, '*'), /is in no price list/],
    ['a model without name', model({ inputPerMTok: 1, outputPerMTok: 1 }, ''), /no model name/],
    ['a model without price', model({ from: '2026-12-01' }), /must name a price/],
    ['no prices', model([]), /must name a price/],
    ['a day that is none', model({ from: '2026-02-30', inputPerMTok: 1 }), /must be a day/],
    ['two prices of a day', model([{ inputPerMTok: 1 }, { inputPerMTok: 2 }]), /two prices from the same day/],
    ['a band without border', model({ bands: [{ inputPerMTok: 1 }] }), /aboveTokensIn must be a whole number/],
    ['a border twice', model({ bands: [{ aboveTokensIn: 5 }, { aboveTokensIn: 5 }] }), /begins where another band/],
    ['images without kinds', model({ perImageUsd: 1 }), /must be an object of prices by size/],
  ])('%s is refused with a line that says so', (_name, text, problem) => {
    expect(() => read(text)).toThrow(problem);
  });

  it('names a price of a listed model alone, and what a model that no list knows has beside tokens', () => {
    expect(read(model({ cacheWrite1hPerMTok: 8 }, 'gpt-5-mini'))).toHaveLength(1);
    expect(read(model({ perVideoSecondUsd: 0.2 }, 'sora-9'))).toHaveLength(1);
  });
});

describe('price book', () => {
  it('has complete prices for data planes of the release before, those that hold now', () => {
    const prices = read(`{
      "resend": { "perRequestUsd": 0.0004 },
      "openai": { "models": { "gpt-5-mini": { "cachedInputPerMTok": 0.5, "perRequestUsd": 0.01 },
                              "gpt-5-nano": { "from": "2027-01-01", "inputPerMTok": 1 } } } }`);
    const list = new PriceList(() => NOW);
    list.replaceOverrides(prices.map(({ price }) => price));
    const book = encodeOperatorPrices(prices, list, upstreamOf);
    expect(book.overrides).toEqual([
      { provider: 'resend', model: '', perRequestNanos: 400_000 },
      {
        provider: 'openai',
        model: 'gpt-5-mini',
        inputPicoPerToken: 250_000,
        outputPicoPerToken: 2_000_000,
        cachedInputPicoPerToken: 500_000,
        perRequestNanos: 10_000_000,
      },
    ]);
    expect(book.prices).toHaveLength(3);
  });
});
