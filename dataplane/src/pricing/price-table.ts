/** What calls cost, in nano-dollars: the prices in force (base/src/pricing) times what was used. */
import { type PricedUpstream, PriceList } from '@acg/base/pricing/price-list';
import type { PriceOverride } from '@acg/base/pricing/price-override';
import { findVendor, type PriceOrigin } from '@acg/base/pricing/price-plan';
import type { IPriceBook, IPriceOverride } from '@acg/proto/messages';
import type { UsageReading } from '../metering/reading/usage-meter.js';
import { calculateMaxCostNanos, type MaxCostInput } from './max-cost.js';
import { calculateImageCostNanos, calculateUsageCostNanos } from './usage-cost.js';

type PriceSource = 'library' | 'override' | 'fallback' | 'per_request' | 'none';

export interface CallCost {
  /** Integer nano-dollars. */
  readonly costNanos: number;
  readonly source: PriceSource;
}

interface PriceQuery {
  readonly upstream: PricedUpstream;
  readonly reading: UsageReading;
}

/** The usage record's words. */
const PRICE_SOURCES: Readonly<Record<PriceOrigin, PriceSource>> = {
  file: 'override',
  built_in: 'library',
  library: 'library',
  fallback: 'fallback',
};

export class PriceTable {
  readonly #list: PriceList;

  /** `now`: Unix ms. */
  constructor(now: () => number) {
    this.#list = new PriceList(now);
  }

  /** Puts the operator's prices in place of all earlier ones. */
  replaceOverrides(book: IPriceBook): void {
    const prices = book.prices ?? [];
    // A control plane of the release before sends `overrides` alone.
    this.#list.replaceOverrides(prices.length > 0 ? prices : (book.overrides ?? []).map(toPriceOverride));
  }

  calculateCost(query: PriceQuery): CallCost {
    const { upstream, reading } = query;
    const perRequestNanos = this.#list.perRequestNanos(upstream, reading.model) * reading.extras.units;
    const plan = reading.source === 'none' ? null : this.#list.findPlan(upstream, reading.model ?? '');
    if (plan === null) return { costNanos: perRequestNanos, source: perRequestNanos > 0 ? 'per_request' : 'none' };
    const drawnNanos = this.#imageCostNanos(upstream, reading);
    return {
      costNanos: perRequestNanos + calculateUsageCostNanos(plan, reading) + drawnNanos,
      source: PRICE_SOURCES[plan.origin],
    };
  }

  /** Without any price per request. */
  calculateUsageCost({ upstream, reading }: PriceQuery): CallCost {
    const plan = this.#list.findPlan(upstream, reading.model ?? '');
    return plan === null
      ? { costNanos: 0, source: 'none' }
      : {
          costNanos: calculateUsageCostNanos(plan, reading) + this.#imageCostNanos(upstream, reading),
          source: PRICE_SOURCES[plan.origin],
        };
  }

  /** Images that a tool drew, at the rates of the model that drew them. */
  #imageCostNanos(upstream: PricedUpstream, { extras: { generatedImages: drawn } }: UsageReading): number {
    const plan = drawn === null ? null : this.#list.findPlan(upstream, drawn.model);
    return drawn === null || plan === null ? 0 : calculateImageCostNanos(plan, drawn);
  }

  /** What a call costs at most, nano-dollars: its dearest rates, in the dearest band. */
  calculateMaxCostNanos(upstream: PricedUpstream, call: MaxCostInput): number {
    const perRequestNanos = this.#list.perRequestNanos(upstream, call.model) * call.units;
    const plan = call.model === null ? null : this.#list.findPlan(upstream, call.model);
    return plan === null
      ? perRequestNanos
      : perRequestNanos + calculateMaxCostNanos(plan, findVendor(upstream.priceProvider), call);
  }
}

/** An override of the release before names all token prices; what it does not know costs what its parent costs. */
function toPriceOverride(entry: IPriceOverride): PriceOverride {
  const { provider, model, perRequestNanos } = entry;
  const input = entry.inputPicoPerToken ?? 0;
  const output = entry.outputPicoPerToken ?? 0;
  const cacheRead = entry.cachedInputPicoPerToken ?? input;
  const read = { input, cacheRead, cacheWrite: input, cacheWrite1h: input, audioIn: input, imageIn: input };
  const isOfProvider = (model ?? '') === '';
  return {
    provider: provider ?? '',
    model: model ?? '',
    perRequestNanos: perRequestNanos || null,
    rates: isOfProvider ? null : { ...read, output, audioOut: output, imageOut: output },
    bands: isOfProvider ? null : { bands: [] },
  };
}
