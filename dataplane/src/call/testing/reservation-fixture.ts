/** What a hard budget reserves for one call, by the real prices and without any connection. */

import { termsOf } from '../../counters/testing/terms-fixture.js';
import { bodyReader } from '../../policy/body-models.js';
import { PriceTable } from '../../pricing/price.js';
import type { RoutedExchange } from '../exchange.js';
import { holdOf } from '../hold-bound.js';
import { contextOf, upstreamOf } from './proxy-fixture.js';

export interface ReservedCall {
  readonly provider: 'openai' | 'anthropic';
  /** Of the provider. */
  readonly path: string;
  /** A text is sent as it stands, a form as its bytes. */
  readonly body: object | string | { readonly form: Buffer; readonly contentType: string };
}

const PRICES_AT = Date.parse('2026-11-20');
const prices = new PriceTable(() => PRICES_AT);

/** Nano-dollars, or the reason of the rejection. */
export function reservation({ provider, path, body }: ReservedCall): number | string {
  const isForm = typeof body === 'object' && 'form' in body;
  const contentType = isForm ? body.contentType : 'application/json';
  const bytes = isForm ? body.form : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const headers = ['content-type', contentType];
  const upstream = upstreamOf(`https://api.${provider}.com`, {
    providerSlug: provider,
    priceProvider: provider,
    usageFormat: provider,
    modelCalls: [{ call: '* /**', at: 'json_or_form' }],
  });
  const reader = bodyReader('json_or_form', headers);
  if (typeof reader === 'string') return reader;
  reader.observe(bytes);
  const read = reader.finish(bytes);
  if ('problem' in read) return read.problem;
  const terms = termsOf({ agentId: 'agent-1', budgetCents: 100, hardBudget: true });
  const x = {
    routed: { context: contextOf([upstream], { terms }), upstream, target: { rest: path } },
    request: { method: 'POST', headers },
    body: { whole: () => bytes },
    bodyModels: read.models,
    heldOutput: null,
  } as unknown as RoutedExchange;
  const held = holdOf(x, { bound: (_x, call) => prices.boundOf(upstream, call) });
  return typeof held === 'number' ? held : held.reason;
}
