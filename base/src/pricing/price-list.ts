/**
 * The prices in force. A plan is looked up once for each provider and model and cached:
 *
 *   PRICES_FILE over (price-library-corrections.ts ─▶ library) ─▶ the vendor's most expensive model, flagged `fallback`
 *
 * The last step is never 0 where responses have tokens: an unknown model name must not bypass a budget
 * (docs/contract.md#usage).
 *
 * A tenant's custom provider has no price id. Its model is looked up in the library by the origin that is called, then
 * by the slug, then by the model's name at any vendor. An unknown model costs as much as the most expensive model of
 * the vendor whose format the provider uses. An override `*` sets another price, which may be 0, for every model
 * without its own.
 */
import { LRUCache } from 'lru-cache';
import { foldMcpName } from '../policy/fold-mcp-name.js';
import {
  findLibraryPlan,
  findMostExpensiveLibraryPlan,
  listHostedVendors,
  sumTokenRates,
} from './genai-prices-adapter.js';
import { findBuiltinPlan } from './price-library-corrections.js';
import { applyOverride, type PriceOverride, TOOL_PRICE_PREFIX, toolPriceProvider } from './price-override.js';
import { findVendor, type PricePlan, tierPercentsOf, type Vendor } from './price-plan.js';

/** The fields of an upstream that decide the price. */
export interface PricedUpstream {
  readonly providerSlug: string;
  /** Provider id in the library; `''` for custom providers and providers without models. */
  readonly priceProvider: string;
  readonly usageFormat: string;
  readonly origin: string;
}

const PLANS_MAX = 4_096;
/** Some vendors price by the time of day, so a plan is looked up again after this time. */
const PLAN_TTL_MS = 600_000;
const DAY_MS = 86_400_000;
/**
 * The most expensive text model on the vendor's current list; `-pro` models of earlier generations are retired or about
 * to be. For other vendors the fallback is the most expensive model in the library.
 */
const FALLBACK_MODELS: Readonly<Record<Vendor, string>> = { openai: 'gpt-5.5-pro', anthropic: 'claude-fable-5-1' };
/** $5 per 1000 pages: the most expensive document model (Mistral OCR 4 with annotations). */
const PICO_PER_PAGE_MAX = 5_000_000_000;
/** Vendors of usage formats whose names in the library differ. */
const FORMAT_VENDORS: Readonly<Record<string, string>> = { gemini: 'google', bedrock: 'aws' };
const ANY_MODEL = '*';
const ALL_CALLS = '';

interface CachedPlan {
  readonly plan: PricePlan | null;
  readonly untilMs: number;
}

export class PriceList {
  readonly #now: () => number;
  readonly #plans = new LRUCache<string, CachedPlan>({ max: PLANS_MAX });
  /** By provider and model, ascending by the time from which they apply. */
  #overrides = new Map<string, PriceOverride[]>();

  /** `now`: Unix ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Replaces all operator prices. */
  replaceOverrides(prices: readonly PriceOverride[]): void {
    const overrides = new Map<string, PriceOverride[]>();
    for (const price of prices) {
      const key = overrideKey(price.provider ?? '', price.model ?? ALL_CALLS);
      const dated = overrides.get(key) ?? [];
      dated.push(price);
      overrides.set(
        key,
        dated.sort((a, b) => (a.fromMs ?? 0) - (b.fromMs ?? 0)),
      );
    }
    this.#overrides = overrides;
    this.#plans.clear();
  }

  /**
   * The price of a model's tokens; `''` = the model is unknown. Null: calls of the provider are not priced by tokens.
   */
  findPlan(upstream: PricedUpstream, model: string): PricePlan | null {
    const key = `${upstream.providerSlug}\n${upstream.origin}\n${model}`;
    const cached = this.#plans.get(key);
    const nowMs = this.#now();
    if (cached !== undefined && nowMs < cached.untilMs) return cached.plan;
    const plan = this.#lookUp(upstream, model, nowMs);
    // Dated prices begin at midnight UTC.
    const untilMs = Math.min(nowMs + PLAN_TTL_MS, nowMs - (nowMs % DAY_MS) + DAY_MS);
    this.#plans.set(key, { plan, untilMs });
    return plan;
  }

  /** Price of each call in nano-dollars: the model's own, else the provider's. */
  perRequestNanos(upstream: PricedUpstream, model: string | null): number {
    if (this.#overrides.size === 0) return 0;
    const nowMs = this.#now();
    const ofModel = model === null ? null : this.#findModelOverride(upstream, model, nowMs);
    const ofProvider = this.#findCurrentOverride(upstream.providerSlug, ALL_CALLS, nowMs);
    return ofModel?.perRequestNanos ?? ofProvider?.perRequestNanos ?? 0;
  }

  /**
   * The operator's price of a tool of an MCP server, by its name in any spelling or by `*`; null: it has none, so the
   * provider's price per request applies.
   */
  findToolPrice(providerSlug: string, tool: string): PriceOverride | null {
    if (this.#overrides.size === 0) return null;
    const nowMs = this.#now();
    const provider = toolPriceProvider(providerSlug);
    return this.#findCurrentOverride(provider, tool, nowMs) ?? this.#findCurrentOverride(provider, ANY_MODEL, nowMs);
  }

  /** The operator's price that applies to a model now: by its name, by its name without a date, or by `*`. */
  findOverride(upstream: PricedUpstream, model: string): PriceOverride | null {
    const nowMs = this.#now();
    const own = this.#findModelOverride(upstream, model, nowMs);
    if (own !== null || findListedPlan(upstream, model, nowMs) !== null) return own;
    return this.#findCurrentOverride(upstream.providerSlug, ANY_MODEL, nowMs);
  }

  #lookUp(upstream: PricedUpstream, model: string, nowMs: number): PricePlan | null {
    const listed = findListedPlan(upstream, model, nowMs);
    const own = this.#findModelOverride(upstream, model, nowMs);
    if (own === null && listed !== null) return listed;
    const override = own ?? this.#findCurrentOverride(upstream.providerSlug, ANY_MODEL, nowMs);
    if (override !== null) return applyOverride(listed, tierPercentsOf(upstream.priceProvider), override);
    // All unknown models share one fallback plan, which is looked up once.
    return model === '' ? findFallbackPlan(upstream, nowMs) : this.findPlan(upstream, '');
  }

  /** The entry of exactly this model, or of its name without a date. */
  #findModelOverride({ providerSlug }: PricedUpstream, model: string, nowMs: number): PriceOverride | null {
    if (model === '') return null;
    return (
      this.#findCurrentOverride(providerSlug, model, nowMs) ??
      this.#findCurrentOverride(providerSlug, stripDateSuffix(model), nowMs)
    );
  }

  #findCurrentOverride(provider: string, model: string, nowMs: number): PriceOverride | null {
    return this.#overrides.get(overrideKey(provider, model))?.findLast(({ fromMs }) => (fromMs ?? 0) <= nowMs) ?? null;
  }
}

/** The price without operator overrides; null: neither list has the model. */
export function findListedPlan(upstream: PricedUpstream, model: string, nowMs: number): PricePlan | null {
  if (model === '') return null;
  const { priceProvider, providerSlug, origin } = upstream;
  const undated = stripDateSuffix(model);
  if (priceProvider !== '') {
    return (
      findBuiltinPlan(priceProvider, undated, nowMs) ??
      findLibraryPlan({ providerId: priceProvider }, model, nowMs) ??
      (undated === model ? null : findLibraryPlan({ providerId: priceProvider }, undated, nowMs))
    );
  }
  return (
    (origin === '' ? null : findLibraryPlan({ providerApiUrl: origin }, model, nowMs)) ??
    findLibraryPlan({ providerId: providerSlug }, model, nowMs) ??
    findBuiltinPlan(null, undated, nowMs) ??
    findLibraryPlan({}, model, nowMs)
  );
}

const overrideKey = (provider: string, model: string): string =>
  `${provider}\n${provider.startsWith(TOOL_PRICE_PREFIX) ? foldMcpName(model) : model}`;

/** Strips the date: `gpt-5-mini-2025-08-07` and `claude-haiku-4-5-20251001`. */
function stripDateSuffix(model: string): string {
  return model.replace(/-(?:\d{4}-\d{2}-\d{2}|\d{8})$/, '');
}

/** A vendor that the library does not have costs what the vendor of its usage format costs. */
function findFallbackPlan({ priceProvider, usageFormat }: PricedUpstream, nowMs: number): PricePlan | null {
  const plan =
    findMostExpensivePlan(priceProvider, nowMs) ??
    findMostExpensivePlan(FORMAT_VENDORS[usageFormat] ?? usageFormat, nowMs);
  return plan === null
    ? null
    : { ...plan, origin: 'fallback', picoPerPage: Math.max(plan.picoPerPage, PICO_PER_PAGE_MAX) };
}

function findMostExpensivePlan(id: string, nowMs: number): PricePlan | null {
  const vendor = findVendor(id);
  if (vendor !== null) return findLibraryPlan({ providerId: vendor }, FALLBACK_MODELS[vendor], nowMs);
  let dearest = findMostExpensiveLibraryPlan(id, nowMs);
  // A host of other vendors' models: Azure, Vertex AI.
  for (const hosted of listHostedVendors(id)) {
    const plan = findVendor(hosted) === null ? null : findMostExpensivePlan(hosted, nowMs);
    if (plan !== null && (dearest === null || sumTokenRates(plan) > sumTokenRates(dearest))) dearest = plan;
  }
  // The context window of that model does not bound the unknown one.
  return dearest === null ? null : { ...dearest, contextTokens: null };
}
