/** For tests: computes what a hard budget reserves for one call, with the real prices and without a connection. */

import type { UsageFormat } from '@acg/dataplane/context/agent-context';
import { createBodyModelReader } from '@acg/dataplane/policy/body/body-model-reader';
import { CallCostCalculator } from '@acg/dataplane/pricing/call-cost-calculator';
import { computeReservation } from '@acg/dataplane/reservation/compute-reservation';
import { createTestLimits } from '../../limits/testing/agent-limits-fixture.js';
import { createTestExchange } from './exchange-fixture.js';
import { createContext, createUpstream } from './proxy-fixture.js';

export interface ReservationRequest {
  /** Id in the price library. */
  readonly provider: string;
  /** Instead of the provider's own; the model is then in the body, where the path does not name it. */
  readonly format?: UsageFormat;
  /** Path at the provider. */
  readonly path: string;
  /** A text is sent unchanged, a form as its bytes. */
  readonly body: object | string | { readonly form: Buffer; readonly contentType: string };
  /** Further headers, flat. */
  readonly headers?: readonly string[];
}

/** Formats and places of the model that differ from OpenAI's. */
const FORMATS: Readonly<Record<string, { readonly format: UsageFormat; readonly at: string }>> = {
  anthropic: { format: 'anthropic', at: 'json' },
  google: { format: 'gemini', at: 'path_before_colon:models' },
  aws: { format: 'bedrock', at: 'path:model' },
  cohere: { format: 'cohere', at: 'json' },
  azure: { format: 'openai', at: 'path:deployments' },
};
const PRICES_AT = Date.parse('2026-11-20');
const prices = new CallCostCalculator(() => PRICES_AT);

/** Nano-dollars, or the reason of the rejection. */
export function computeReservationFor({
  provider,
  path,
  body,
  headers: more = [],
  format: otherFormat,
}: ReservationRequest): number | string {
  const isForm = typeof body === 'object' && 'form' in body;
  const contentType = isForm ? body.contentType : 'application/json';
  const bytes = isForm ? body.form : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const headers = ['content-type', contentType, ...more];
  const own = FORMATS[provider] ?? { format: 'openai', at: 'json_or_form' };
  const format = otherFormat ?? own.format;
  const at = otherFormat === undefined || path.includes(':') ? own.at : 'json';
  const upstream = createUpstream(`https://api.${provider}.com`, {
    providerSlug: provider,
    priceProvider: provider,
    usageFormat: format,
    modelCalls: [{ call: '* /**', at }],
  });
  const reader = createBodyModelReader(at.startsWith('path') ? 'unnamed' : 'json_or_form', headers);
  if (typeof reader === 'string') return reader;
  reader.observe(bytes);
  const read = reader.finish(bytes);
  if ('problem' in read) return read.problem;
  const terms = createTestLimits({ agentId: 'agent-1', budgetCents: 100, hardBudget: true });
  const exchange = createTestExchange({
    routed: { context: createContext([upstream], { agentLimits: terms }), upstream, target: { providerPath: path } },
    request: { method: 'POST', headers },
    body: { peekWhole: () => bytes },
  });
  exchange.admission.bodyModels = read.models;
  const held = computeReservation(exchange, {
    maxCostNanos: (_exchange, call) => prices.calculateMaxCostNanos(upstream, call),
  });
  return typeof held === 'number' ? held : held.reason;
}
