/** What calls cost, in nano-dollars: the prices in force (base/src/pricing) times what was used. */
import { type PricedUpstream, PriceList } from '@acg/base/pricing/price-list';
import type { PriceOverride } from '@acg/base/pricing/price-override';
import { type PriceOrigin, vendorOf } from '@acg/base/pricing/price-plan';
import type { IPriceBook, IPriceOverride } from '@acg/proto/messages';
import type { UsageReading } from '../metering/meter.js';
import { drawnNanos, tokensCostNanos } from './cost.js';
import { type BoundedCall, boundNanos } from './cost-bound.js';

type PriceSource = 'library' | 'override' | 'fallback' | 'per_request' | 'none';

export interface Price {
  /** Integer nano-dollars. */
  readonly costNanos: number;
  readonly source: PriceSource;
}

interface PriceQuery {
  readonly upstream: PricedUpstream;
  readonly reading: UsageReading;
}

/** The usage record's words. */
const SOURCES: Readonly<Record<PriceOrigin, PriceSource>> = {
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
    this.#list.replaceOverrides(prices.length > 0 ? prices : (book.overrides ?? []).map(wholePrice));
  }

  costOf(query: PriceQuery): Price {
    const { upstream, reading } = query;
    const perRequestNanos = this.#list.perRequestNanos(upstream, reading.model) * reading.extras.units;
    const plan = reading.source === 'none' ? null : this.#list.planOf(upstream, reading.model ?? '');
    if (plan === null) return { costNanos: perRequestNanos, source: perRequestNanos > 0 ? 'per_request' : 'none' };
    const drawnNanos = this.#drawnNanos(upstream, reading);
    return { costNanos: perRequestNanos + tokensCostNanos(plan, reading) + drawnNanos, source: SOURCES[plan.origin] };
  }

  /** Without any price per request. */
  tokensCostOf({ upstream, reading }: PriceQuery): Price {
    const plan = this.#list.planOf(upstream, reading.model ?? '');
    return plan === null
      ? { costNanos: 0, source: 'none' }
      : {
          costNanos: tokensCostNanos(plan, reading) + this.#drawnNanos(upstream, reading),
          source: SOURCES[plan.origin],
        };
  }

  /** Images that a tool drew, at the rates of the model that drew them. */
  #drawnNanos(upstream: PricedUpstream, { extras: { drawn } }: UsageReading): number {
    const plan = drawn === null ? null : this.#list.planOf(upstream, drawn.model);
    return drawn === null || plan === null ? 0 : drawnNanos(plan, drawn);
  }

  /** What a call costs at most, nano-dollars: its dearest rates, in the dearest band. */
  boundOf(upstream: PricedUpstream, call: BoundedCall): number {
    const perRequestNanos = this.#list.perRequestNanos(upstream, call.model) * call.units;
    const plan = call.model === null ? null : this.#list.planOf(upstream, call.model);
    return plan === null ? perRequestNanos : perRequestNanos + boundNanos(plan, vendorOf(upstream.priceProvider), call);
  }
}

/** An override of the release before names all token prices; what it does not know costs what its parent costs. */
function wholePrice(entry: IPriceOverride): PriceOverride {
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
