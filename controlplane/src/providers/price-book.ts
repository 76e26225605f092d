/**
 * The operator's prices from PRICES_FILE (docs/configuration.md#prices), pushed to every data plane when it connects:
 *
 *   {"resend": {"perRequestUsd": 0.0004},
 *    "openai": {"models": {"my-model": {"inputPerMTok": 1, "outputPerMTok": 4, "cachedInputPerMTok": 0.1}}}}
 *
 * Keys are provider slugs, custom ones too. The model `*` prices every model that has no price of its own. A model's
 * own `perRequestUsd` stands in for the provider's. Read once at start; anything unclear in it stops the start.
 */
import { readFileSync } from 'node:fs';
import { ConfigError } from '@acg/base/env-reader';
import type { IPriceBook, IPriceOverride } from '@acg/proto/messages';

const SLUG = /^[a-z0-9-]{2,40}$/;
const MODEL_CHARS_MAX = 256;
/** Far above every list price; more is a slip of the decimal point. */
const USD_PER_MTOK_MAX = 1_000_000;
const USD_PER_REQUEST_MAX = 10_000;
const PICO_PER_TOKEN = 1e6;
const NANO = 1e9;

/** Throws {@link ConfigError} that says what is wrong with the file. `file` null: no overrides. */
export function loadPriceBook(file: string | null): IPriceBook {
  if (file === null) return { overrides: [] };
  let document: unknown;
  try {
    document = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw wrong((error as Error).message);
  }
  if (!isObject(document)) throw wrong('must hold a JSON object such as {"resend":{"perRequestUsd":0.0004}}');
  return { overrides: Object.entries(document).flatMap(([slug, entry]) => providerPrices(slug, entry)) };
}

function providerPrices(provider: string, entry: unknown): IPriceOverride[] {
  if (!SLUG.test(provider)) throw wrong(`${JSON.stringify(provider)} is no provider slug`);
  if (!isObject(entry)) throw wrong(`${provider} must be an object with perRequestUsd or models`);
  onlyFields(provider, entry, ['perRequestUsd', 'models']);
  const { perRequestUsd, models = {} } = entry;
  if (!isObject(models)) throw wrong(`${provider}.models must be an object of models`);
  const prices = Object.entries(models).map(([model, price]) => modelPrice(provider, model, price));
  if (perRequestUsd === undefined) return prices;
  const perRequestNanos = amount(`${provider}.perRequestUsd`, perRequestUsd, NANO, USD_PER_REQUEST_MAX);
  return [{ provider, model: '', perRequestNanos }, ...prices];
}

function modelPrice(provider: string, model: string, price: unknown): IPriceOverride {
  const at = `${provider}.models[${JSON.stringify(model)}]`;
  if (model === '' || model.length > MODEL_CHARS_MAX) throw wrong(`${at} is no model name`);
  if (!isObject(price)) throw wrong(`${at} must be an object with inputPerMTok and outputPerMTok`);
  onlyFields(at, price, ['inputPerMTok', 'outputPerMTok', 'cachedInputPerMTok', 'perRequestUsd']);
  const { inputPerMTok, outputPerMTok, cachedInputPerMTok, perRequestUsd } = price;
  const isPerRequest = perRequestUsd !== undefined && inputPerMTok === undefined && outputPerMTok === undefined;
  const perToken = (field: string, usd: unknown): number =>
    amount(`${at}.${field}`, usd, PICO_PER_TOKEN, USD_PER_MTOK_MAX);
  return {
    provider,
    model,
    inputPicoPerToken: isPerRequest ? 0 : perToken('inputPerMTok', inputPerMTok),
    outputPicoPerToken: isPerRequest ? 0 : perToken('outputPerMTok', outputPerMTok),
    ...(cachedInputPerMTok === undefined
      ? {}
      : { cachedInputPicoPerToken: perToken('cachedInputPerMTok', cachedInputPerMTok) }),
    ...(perRequestUsd === undefined
      ? {}
      : { perRequestNanos: amount(`${at}.perRequestUsd`, perRequestUsd, NANO, USD_PER_REQUEST_MAX) }),
  };
}

/** `usd` in whole units of 1/`perUsd`. */
function amount(at: string, usd: unknown, perUsd: number, usdMax: number): number {
  if (typeof usd !== 'number' || !(usd >= 0) || usd > usdMax) throw wrong(`${at} must be a number from 0 to ${usdMax}`);
  const units = Math.round(usd * perUsd);
  if (units === 0 && usd > 0) throw wrong(`${at} is smaller than can be counted (${1 / perUsd})`);
  return units;
}

function onlyFields(at: string, entry: Record<string, unknown>, known: readonly string[]): void {
  const other = Object.keys(entry).find((key) => !known.includes(key));
  if (other !== undefined) throw wrong(`${at} has the unknown field ${JSON.stringify(other)}`);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const wrong = (problem: string): ConfigError => new ConfigError([`PRICES_FILE: ${problem}`]);
