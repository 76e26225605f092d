import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadPriceBook } from './price-book.js';

const directory = mkdtempSync(join(tmpdir(), 'acg-prices-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function load(text: string): ReturnType<typeof loadPriceBook> {
  const file = join(directory, 'prices.json');
  writeFileSync(file, text);
  return loadPriceBook(file);
}

describe('price book', () => {
  it('reads per-request and per-token prices into whole nano- and pico-dollars', () => {
    const file =
      '{"resend":{"perRequestUsd":0.0004},"my-llm":{"models":{"*":{"inputPerMTok":0,"outputPerMTok":0},"flat":{"perRequestUsd":0.01}}},' +
      '"openai":{"models":{"my-model":{"inputPerMTok":1,"outputPerMTok":4.5,"cachedInputPerMTok":0.1}}}}';
    expect(load(file)).toEqual({
      overrides: [
        { provider: 'resend', model: '', perRequestNanos: 400_000 },
        { provider: 'my-llm', model: '*', inputPicoPerToken: 0, outputPicoPerToken: 0 },
        { provider: 'my-llm', model: 'flat', inputPicoPerToken: 0, outputPicoPerToken: 0, perRequestNanos: 10_000_000 },
        {
          provider: 'openai',
          model: 'my-model',
          inputPicoPerToken: 1_000_000,
          outputPicoPerToken: 4_500_000,
          cachedInputPicoPerToken: 100_000,
        },
      ],
    });
    expect(loadPriceBook(null)).toEqual({ overrides: [] });
  });

  it.each([
    ['no file of that name', null, /PRICES_FILE: ENOENT/],
    ['no JSON', '{', /PRICES_FILE: /],
    ['a list', '[]', /must hold a JSON object/],
    ['an odd slug', '{"Open AI":{}}', /no provider slug/],
    ['an unknown field', '{"openai":{"perRequest":1}}', /openai has the unknown field "perRequest"/],
    ['an unknown field of a model', '{"openai":{"models":{"m":{"input":1}}}}', /unknown field "input"/],
    ['a text for a number', '{"openai":{"perRequestUsd":"1"}}', /openai.perRequestUsd must be a number/],
    ['a negative price', '{"openai":{"perRequestUsd":-1}}', /must be a number from 0/],
    ['a slip of the decimal point', '{"openai":{"perRequestUsd":40000}}', /to 10000/],
    ['a price that would round to nothing', '{"openai":{"perRequestUsd":1e-12}}', /smaller than can be counted/],
    ['half a model', '{"openai":{"models":{"m":{"inputPerMTok":1}}}}', /outputPerMTok must be a number/],
    ['a model without name', '{"openai":{"models":{"":{"inputPerMTok":1,"outputPerMTok":1}}}}', /no model name/],
  ])('%s stops the start with a line that says so', (_name, text, problem) => {
    expect(() => (text === null ? loadPriceBook(join(directory, 'none')) : load(text))).toThrow(problem);
  });
});
