/**
 * The usage and cost APIs of OpenAI, Anthropic and OpenRouter, in the formats of their public references. They sum up
 * the calls that a test adds; `hiddenFromMs` withholds late buckets.
 */
import { type ReceivedRequest, StandInProvider } from '@acg/stand-in-provider/stand-in-provider';
import { jsonResponse, type StandInResponse } from '@acg/stand-in-provider/stand-in-response';

export const BILLING_ADMIN_KEY = 'sk-admin-stand-in-0123456789';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Pages are short, so that every report has several. */
const BUCKETS_PER_PAGE = 5;

/** One call that the provider bills. */
export interface BilledCall {
  readonly atMs: number;
  /** Id of the key; for OpenRouter its hash. */
  readonly keyId: string;
  readonly model: string;
  readonly input: number;
  readonly cacheRead: number;
  readonly output: number;
  /** Nano-dollars by token class. */
  readonly nanos: { readonly input: number; readonly cacheRead: number; readonly output: number };
}

interface ProviderKey {
  readonly id: string;
  readonly redacted: string;
}

export class BillingReportsStandIn extends StandInProvider {
  calls: BilledCall[] = [];
  keys: readonly ProviderKey[] = [];
  /** Calls for which this returns true are not in the reports yet. */
  isLate: (call: BilledCall) => boolean = () => false;

  protected override respond(request: ReceivedRequest): StandInResponse | Promise<StandInResponse> {
    const { authorization, 'x-api-key': apiKey } = request.headers;
    if (authorization !== `Bearer ${BILLING_ADMIN_KEY}` && apiKey !== BILLING_ADMIN_KEY)
      return jsonResponse(401, { error: { message: 'Incorrect API key provided' } });
    const query = new URLSearchParams(request.query);
    switch (request.path) {
      case '/v1/organization/usage/completions':
        return this.#page(openAiRange(query), HOUR_MS, query, (calls) => groups(calls).map(openAiUsage), openAiBucket);
      case '/v1/organization/usage/embeddings':
        return this.#page(openAiRange(query), HOUR_MS, query, () => [], openAiBucket);
      case '/v1/organization/costs':
        return this.#page(openAiRange(query), DAY_MS, query, openAiCosts, openAiBucket);
      case '/v1/organization/projects':
        return jsonResponse(200, { object: 'list', data: [{ id: 'proj_1' }], has_more: false });
      case '/v1/organization/projects/proj_1/api_keys':
        return this.#keyList(query.get('after'), ({ id, redacted }) => ({ id, redacted_value: redacted }));
      case '/v1/organizations/usage_report/messages':
        return this.#page(isoRange(query), HOUR_MS, query, (calls) => groups(calls).map(anthropicUsage), isoBucket);
      case '/v1/organizations/cost_report':
        return this.#page(isoRange(query), DAY_MS, query, anthropicCosts, isoBucket);
      case '/v1/organizations/api_keys':
        return this.#keyList(query.get('after_id'), ({ id, redacted }) => ({ id, partial_key_hint: redacted }));
      case '/api/v1/keys':
        return jsonResponse(200, { data: this.keys.map(({ id, redacted }) => ({ hash: id, label: redacted })) });
      case '/api/v1/activity':
        return jsonResponse(200, { data: this.#activity(query.get('date')!, query.get('api_key_hash')!) });
      default:
        return jsonResponse(404, { error: { message: `no ${request.path}` } });
    }
  }

  #visible(fromMs: number, toMs: number): readonly BilledCall[] {
    return this.calls.filter((call) => call.atMs >= fromMs && call.atMs < toMs && !this.isLate(call));
  }

  #page(
    { fromMs, toMs }: Range,
    widthMs: number,
    query: URLSearchParams,
    results: (calls: readonly BilledCall[]) => readonly object[],
    bucket: (fromMs: number, toMs: number) => object,
  ): StandInResponse {
    const start = Number(query.get('page')?.slice('page_'.length) ?? fromMs);
    const end = Math.min(toMs, start + BUCKETS_PER_PAGE * widthMs * 10);
    const data: object[] = [];
    for (let at = start; at < end; at += widthMs)
      data.push({ ...bucket(at, at + widthMs), results: results(this.#visible(at, at + widthMs)) });
    return jsonResponse(200, {
      object: 'page',
      data,
      has_more: end < toMs,
      next_page: end < toMs ? `page_${end}` : null,
    });
  }

  /** One key a page. */
  #keyList(after: string | null, present: (key: ProviderKey) => object): StandInResponse {
    const at = after === null ? 0 : this.keys.findIndex(({ id }) => id === after) + 1;
    const shown = this.keys.slice(at, at + 1);
    const body = { object: 'list', data: shown.map(present), has_more: at + 1 < this.keys.length };
    return jsonResponse(200, { ...body, last_id: shown[0]?.id ?? null });
  }

  #activity(date: string, keyId: string): readonly object[] {
    const fromMs = Date.parse(date);
    return groups(this.#visible(fromMs, fromMs + DAY_MS).filter((call) => call.keyId === keyId)).map((calls) => ({
      date,
      model: calls[0]!.model,
      model_permaslug: calls[0]!.model,
      endpoint_id: '550e8400-e29b-41d4-a716-446655440000',
      provider_name: 'OpenAI',
      usage: sum(calls, ({ nanos }) => nanos.input + nanos.cacheRead + nanos.output) / 1e9,
      byok_usage_inference: 0,
      requests: calls.length,
      prompt_tokens: sum(calls, ({ input, cacheRead }) => input + cacheRead),
      completion_tokens: sum(calls, ({ output }) => output),
      reasoning_tokens: 0,
    }));
  }
}

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

const openAiRange = (query: URLSearchParams): Range => ({
  fromMs: Number(query.get('start_time')) * 1_000,
  toMs: Number(query.get('end_time')) * 1_000,
});
const isoRange = (query: URLSearchParams): Range => ({
  fromMs: Date.parse(query.get('starting_at')!),
  toMs: Date.parse(query.get('ending_at')!),
});
const openAiBucket = (fromMs: number, toMs: number) => ({
  object: 'bucket',
  start_time: fromMs / 1_000,
  end_time: toMs / 1_000,
});
const isoBucket = (fromMs: number, toMs: number) => ({
  starting_at: new Date(fromMs).toISOString(),
  ending_at: new Date(toMs).toISOString(),
});

const sum = (calls: readonly BilledCall[], of: (call: BilledCall) => number): number =>
  calls.reduce((total, call) => total + of(call), 0);

/** By key and model. */
function groups(calls: readonly BilledCall[], keyOf = ({ keyId, model }: BilledCall) => `${keyId}\n${model}`) {
  const found = new Map<string, BilledCall[]>();
  for (const call of calls) {
    const group = found.get(keyOf(call));
    if (group === undefined) found.set(keyOf(call), [call]);
    else group.push(call);
  }
  return [...found.values()];
}

const openAiUsage = (calls: readonly BilledCall[]) => ({
  object: 'organization.usage.completions.result',
  input_tokens: sum(calls, ({ input, cacheRead }) => input + cacheRead),
  input_cached_tokens: sum(calls, ({ cacheRead }) => cacheRead),
  output_tokens: sum(calls, ({ output }) => output),
  num_model_requests: calls.length,
  api_key_id: calls[0]!.keyId,
  model: calls[0]!.model,
});

const OPENAI_ITEMS = { input: 'input', cacheRead: 'cached input', output: 'output' } as const;

const openAiCosts = (calls: readonly BilledCall[]) =>
  groups(calls, ({ model }) => model).flatMap((ofModel) =>
    (['input', 'cacheRead', 'output'] as const).map((name) => ({
      object: 'organization.costs.result',
      amount: { value: sum(ofModel, ({ nanos }) => nanos[name]) / 1e9, currency: 'usd' },
      line_item: `${ofModel[0]!.model}, ${OPENAI_ITEMS[name]}`,
      project_id: null,
    })),
  );

const anthropicUsage = (calls: readonly BilledCall[]) => ({
  uncached_input_tokens: sum(calls, ({ input }) => input),
  cache_read_input_tokens: sum(calls, ({ cacheRead }) => cacheRead),
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: sum(calls, ({ output }) => output),
  server_tool_use: { web_search_requests: 0 },
  api_key_id: calls[0]!.keyId,
  model: calls[0]!.model,
});

const ANTHROPIC_TYPES = {
  input: 'uncached_input_tokens',
  cacheRead: 'cache_read_input_tokens',
  output: 'output_tokens',
} as const;

const anthropicCosts = (calls: readonly BilledCall[]) =>
  groups(calls, ({ model }) => model).flatMap((ofModel) =>
    (['input', 'cacheRead', 'output'] as const).map((name) => ({
      currency: 'USD',
      amount: String(sum(ofModel, ({ nanos }) => nanos[name]) / 1e7),
      cost_type: 'tokens',
      description: `${ofModel[0]!.model} Usage - ${name}`,
      model: ofModel[0]!.model,
      token_type: ANTHROPIC_TYPES[name],
      workspace_id: null,
    })),
  );
