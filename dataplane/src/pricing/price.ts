/**
 * What a reading costs, in nano-dollars. A plan is looked up once per (provider, model) and kept:
 *
 *   operator's override ─▶ known-prices.ts ─▶ library ─▶ the vendor's dearest model, flagged `fallback`
 *
 * The last step is never 0 where answers have tokens, whatever the vendor: an unknown name must not be a way around a
 * budget (docs/contract.md#usage).
 *
 * A tenant's custom provider has no price id. Its model is looked for in the library by the address that is called,
 * then by the slug, then by the model's name at any vendor; a model nobody knows costs the dearest of the vendor whose
 * format the provider speaks. An override `*` sets another price for every model that has none of its own, 0 included.
 */
import type { IPriceBook, IPriceOverride } from '@acg/proto/messages';
import { LRUCache } from 'lru-cache';
import type { UsageReading } from '../metering/meter.js';
import { type BoundedCall, boundNanos } from './cost-bound.js';
import { KNOWN_PRICES, type KnownPrice } from './known-prices.js';
import { dearestLibraryPlan, libraryPlan } from './price-library.js';
import {
  type Band,
  DEAREST_VIDEO_PICO,
  drawnNanos,
  FAST_PERCENT,
  type PricePlan,
  type Rates,
  ratesOf,
  tokensCostNanos,
  type Vendor,
  vendorOf,
} from './price-plan.js';

type PriceSource = 'library' | 'override' | 'fallback' | 'per_request' | 'none';

export interface Price {
  /** Integer nano-dollars. */
  readonly costNanos: number;
  readonly source: PriceSource;
}

/** The part of an Upstream that decides the price. */
export interface PricedUpstream {
  readonly providerSlug: string;
  /** Id in the library; `''` for custom providers and those without models. */
  readonly priceProvider: string;
  readonly usageFormat: string;
  readonly origin: string;
}

interface PriceQuery {
  readonly upstream: PricedUpstream;
  readonly reading: UsageReading;
}

const PLANS_MAX = 4_096;
/** Prices have dates (and some vendors times of day), so a plan is looked up again after this. */
const PLAN_TTL_MS = 600_000;
/**
 * Dearest text model on the vendor's current list; `-pro` models of earlier generations are retired or on notice. Of other
 * vendors it is the dearest that the library has.
 */
const FALLBACK_MODELS: Readonly<Record<Vendor, string>> = { openai: 'gpt-5.5-pro', anthropic: 'claude-fable-5-1' };
const ANY_MODEL = '*';
const WEB_SEARCH_PICO = 10_000_000_000; // $10 per 1000 at both vendors

interface OverridePrice {
  readonly plan: PricePlan;
  /** Null: the provider's own per-request price holds. */
  readonly perRequestNanos: number | null;
}

interface CachedPlan {
  readonly plan: PricePlan | null;
  readonly untilMs: number;
}

export class PriceTable {
  readonly #now: () => number;
  readonly #plans = new LRUCache<string, CachedPlan>({ max: PLANS_MAX });
  /** `slug\nmodel`; model `''` carries the provider's per-request price. */
  #overrides = new Map<string, OverridePrice>();

  /** `now`: Unix ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Puts the operator's prices in place of all earlier ones. */
  replaceOverrides(book: IPriceBook): void {
    const overrides = new Map<string, OverridePrice>();
    for (const entry of book.overrides ?? []) {
      const provider = entry.provider ?? '';
      const bands: Band[] = [{ aboveTokensIn: -1, rates: overrideRates(entry) }];
      const plan: PricePlan = {
        source: 'override',
        bands,
        picoPerWebSearch: WEB_SEARCH_PICO,
        picoPerAudioSecond: 0,
        picoPerVideoSecond: 0,
        picoPerLargeVideoSecond: 0,
        picoPerCharacter: 0,
        picoPerImage: null,
        vendor: vendorOf(provider),
        fastPercent: FAST_PERCENT,
        contextTokens: null,
      };
      overrides.set(planKey(provider, entry.model ?? ''), {
        plan,
        perRequestNanos: entry.perRequestNanos || null,
      });
    }
    this.#overrides = overrides;
    this.#plans.clear();
  }

  costOf(query: PriceQuery): Price {
    const { upstream, reading } = query;
    const perRequestNanos = this.#perRequestNanos(upstream, reading);
    const plan = reading.source === 'none' ? null : this.#planOf(upstream, reading.model ?? '');
    if (plan === null) return { costNanos: perRequestNanos, source: perRequestNanos > 0 ? 'per_request' : 'none' };
    const drawnNanos = this.#drawnNanos(upstream, reading);
    return { costNanos: perRequestNanos + tokensCostNanos(plan, reading) + drawnNanos, source: plan.source };
  }

  /** Without any price per request. */
  tokensCostOf({ upstream, reading }: PriceQuery): Price {
    const plan = this.#planOf(upstream, reading.model ?? '');
    return plan === null
      ? { costNanos: 0, source: 'none' }
      : { costNanos: tokensCostNanos(plan, reading) + this.#drawnNanos(upstream, reading), source: plan.source };
  }

  /** Images that a tool drew, at the rates of the model that drew them. */
  #drawnNanos(upstream: PricedUpstream, { extras: { drawn } }: UsageReading): number {
    const plan = drawn === null ? null : this.#planOf(upstream, drawn.model);
    return drawn === null || plan === null ? 0 : drawnNanos(plan, drawn);
  }

  /** What a call costs at most, nano-dollars: its dearest rates, in the dearest band. */
  boundOf(upstream: PricedUpstream, call: BoundedCall): number {
    const ofModel = call.model === null ? null : this.#overrideOf(upstream, call.model);
    const ofProvider = this.#overrides.get(planKey(upstream.providerSlug, ''));
    const perRequestNanos = (ofModel?.perRequestNanos ?? ofProvider?.perRequestNanos ?? 0) * call.units;
    const plan = call.model === null ? null : this.#planOf(upstream, call.model);
    return plan === null ? perRequestNanos : perRequestNanos + boundNanos(plan, call);
  }

  /** The model's own per-request price, else its provider's. */
  #perRequestNanos(upstream: PricedUpstream, reading: UsageReading): number {
    if (this.#overrides.size === 0) return 0;
    const ofModel = reading.model === null ? null : this.#overrideOf(upstream, reading.model);
    const ofProvider = this.#overrides.get(planKey(upstream.providerSlug, ''));
    return (ofModel?.perRequestNanos ?? ofProvider?.perRequestNanos ?? 0) * reading.extras.units;
  }

  #planOf(upstream: PricedUpstream, model: string): PricePlan | null {
    const key = `${upstream.providerSlug}\n${upstream.origin}\n${model}`;
    const cached = this.#plans.get(key);
    const nowMs = this.#now();
    if (cached !== undefined && nowMs < cached.untilMs) return cached.plan;
    const plan = this.#lookUp(upstream, model, nowMs);
    this.#plans.set(key, { plan, untilMs: nowMs + PLAN_TTL_MS });
    return plan;
  }

  #lookUp(upstream: PricedUpstream, model: string, nowMs: number): PricePlan | null {
    const name = model === '' ? null : model;
    const undated = withoutDate(model);
    const override = this.#overrideOf(upstream, model);
    if (override !== null) return override.plan;
    const vendor = upstream.priceProvider;
    if (name !== null && vendor !== '') {
      const plan = knownPlan(vendor, undated, nowMs) ?? libraryPlan({ providerId: vendor }, model, nowMs);
      if (plan !== null) return plan;
    } else if (name !== null) {
      const plan = customPlan(upstream, model, undated, nowMs);
      if (plan !== null) return plan;
    }
    const any = this.#overrideOf(upstream, ANY_MODEL);
    if (any !== null) return any.plan;
    // The same for all of them, so it is found once.
    return name === null ? fallbackPlan(upstream, nowMs) : this.#planOf(upstream, '');
  }

  /** The entry of exactly this model, or of its name without a date. */
  #overrideOf(upstream: PricedUpstream, model: string): OverridePrice | null {
    if (model === '') return null;
    const { providerSlug } = upstream;
    const exact = this.#overrides.get(planKey(providerSlug, model));
    return exact ?? this.#overrides.get(planKey(providerSlug, withoutDate(model))) ?? null;
  }
}

const planKey = (provider: string, model: string): string => `${provider}\n${model}`;

function overrideRates(entry: IPriceOverride): Rates {
  const usdPerMTok = (pico: number | null | undefined): number => Number(pico ?? 0) / 1e6;
  const cached = entry.cachedInputPicoPerToken;
  return ratesOf({
    input: usdPerMTok(entry.inputPicoPerToken),
    output: usdPerMTok(entry.outputPicoPerToken),
    cacheRead: cached === undefined || cached === null ? undefined : usdPerMTok(cached),
  });
}

/** `gpt-5-mini-2025-08-07` and `claude-haiku-4-5-20251001` without their dates. */
function withoutDate(model: string): string {
  return model.replace(/-(?:\d{4}-\d{2}-\d{2}|\d{8})$/, '');
}

const picoOf = (usd: number | undefined): number => (usd === undefined ? DEAREST_VIDEO_PICO : Math.round(usd * 1e12));

const picoOfEach = (usd: Readonly<Record<string, number>>): ReadonlyMap<string, number> =>
  new Map(Object.entries(usd).map(([kind, price]) => [kind, Math.round(price * 1e12)]));

/** `vendor` null: of any. */
function knownPlan(vendor: string | null, model: string, nowMs: number): PricePlan | null {
  let found: KnownPrice | null = null;
  for (const price of KNOWN_PRICES) {
    if ((vendor !== null && price.provider !== vendor) || !price.models.includes(model)) continue;
    // Before its first date a model has that price too: it is in use, so it costs something.
    if (found === null || Date.parse(price.from) <= nowMs) found = price;
  }
  if (found === null) return null;
  const bands: Band[] = [{ aboveTokensIn: -1, rates: ratesOf(found.base) }];
  if (found.long) bands.push({ aboveTokensIn: found.long.aboveTokensIn, rates: ratesOf(found.long.price) });
  return {
    source: 'library',
    bands,
    picoPerWebSearch: WEB_SEARCH_PICO,
    picoPerAudioSecond: 0,
    picoPerVideoSecond: picoOf(found.perVideoSecond?.base),
    picoPerLargeVideoSecond: picoOf(found.perVideoSecond?.large),
    picoPerCharacter: Math.round((found.perMillionCharacters ?? 0) * 1e6),
    picoPerImage: found.perImage === undefined ? null : picoOfEach(found.perImage),
    vendor: vendorOf(found.provider),
    fastPercent: FAST_PERCENT,
    contextTokens: null,
  };
}

function customPlan(upstream: PricedUpstream, model: string, undated: string, nowMs: number): PricePlan | null {
  return (
    libraryPlan({ providerApiUrl: upstream.origin }, model, nowMs) ??
    libraryPlan({ providerId: upstream.providerSlug }, model, nowMs) ??
    knownPlan(null, undated, nowMs) ??
    libraryPlan({}, model, nowMs)
  );
}

/** A vendor that the library does not know costs what the one whose format it speaks does. */
function fallbackPlan({ priceProvider, usageFormat }: PricedUpstream, nowMs: number): PricePlan | null {
  const plan = dearestPlan(priceProvider, nowMs) ?? dearestPlan(usageFormat, nowMs);
  return plan === null ? null : { ...plan, source: 'fallback' };
}

function dearestPlan(id: string, nowMs: number): PricePlan | null {
  const vendor = vendorOf(id);
  return vendor === null
    ? dearestLibraryPlan(id, nowMs)
    : libraryPlan({ providerId: vendor }, FALLBACK_MODELS[vendor], nowMs);
}
