/**
 * With a hard budget the gateway reserves at least what the vendor may bill, or it rejects the call. Random bodies of
 * every priced call go through the whole pipeline; {@link ./worst-case-cost.ts} computes the highest bill. It was
 * written from the vendors' pages without knowledge of the reservation code.
 *
 *   PROPERTY_RUNS=5000 PROPERTY_SEED=7 npx vitest run test/src/reservations
 */
import { Agent } from 'node:http';
import { Catalogue } from '@acg/controlplane/providers/catalogue/catalogue';
import { applyModelPreset } from '@acg/controlplane/providers/catalogue/model-presets';
import { ProviderMetering } from '@acg/dataplane/call/provider-metering';
import {
  createContext,
  createRejectedAdmission,
  createUpstream,
  ProxyFixture,
} from '@acg/dataplane/call/testing/proxy-fixture';
import { RawUpstream } from '@acg/dataplane/call/testing/raw-peer-fixture';
import { createTestLimits } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import { CallCostCalculator } from '@acg/dataplane/pricing/call-cost-calculator';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CALL_GENERATORS } from './call-generators.js';
import type { Json } from './max-prompt-tokens.js';
import {
  encodeForm,
  type ReservationOutcome,
  reserveThroughPipeline,
  respellJson,
} from './reserve-through-pipeline.js';
import { createPdf, createPng } from './sample-files.js';
import { worstCaseCostNanos } from './worst-case-cost.js';

const { numRuns: RUNS = 100, seed: SEED = 20_261_123 } = fc.readConfigureGlobal();
/** For calls without a maximum. Small, so that the tests notice a stated maximum that is not read. */
const DEFAULT_RESERVED_OUTPUT_TOKENS = 500;
const MAX_EDITED_BODY_BYTES = 10 * 1024 * 1024;
const prices = new CallCostCalculator(() => Date.parse('2026-11-20'));

const catalogue = new Catalogue();
const VENDORS = ['openai', 'anthropic'] as const;
type Vendor = (typeof VENDORS)[number];

/**
 * The built-in provider, or a custom provider with the same format below its own path, whose definition says that it keeps
 * to the vendor's maximum of tool uses (others: tool-use-maxima.test.ts).
 */
const upstreamFor = (origin: string, vendor: Vendor, custom: boolean) =>
  createUpstream(origin, {
    providerSlug: custom ? `own-${vendor}` : vendor,
    publicSlug: custom ? `own-${vendor}` : vendor,
    isCustom: custom,
    usageFormat: vendor,
    priceProvider: custom ? '' : vendor,
    modelCalls: custom ? applyModelPreset(vendor, catalogue.presetCalls) : catalogue.get(vendor)!.modelCalls,
  });

/** Accepts connections and gets no request. */
let provider: RawUpstream;
let gateway: ProxyFixture;
let agent: Agent;

beforeAll(async () => {
  console.log(`reservations: seed ${SEED}, ${RUNS} runs of each call`);
  agent = new Agent({ keepAlive: true });
  const limits = createTestLimits({
    agentId: 'agent-1',
    budgetCents: 100_000_000,
    hardBudget: true,
    defaultMaxOutputTokens: DEFAULT_RESERVED_OUTPUT_TOKENS,
  });
  provider = await RawUpstream.start();
  const upstreams = VENDORS.flatMap((vendor) => [false, true].map((own) => upstreamFor(provider.origin, vendor, own)));
  const context = createContext(upstreams, { agentLimits: limits, unassignedProviders: new Set() });
  const metering = new ProviderMetering(prices, { appendDeferredUsage: () => {} }, MAX_EDITED_BODY_BYTES);
  gateway = await ProxyFixture.start(context, {}, metering);
  gateway.admission = createRejectedAdmission('budget', 0);
});
afterAll(async () => {
  agent.destroy();
  await gateway.stop();
  expect(provider.text).toBe('');
  provider.stop();
});

interface CallCase {
  readonly vendor: Vendor;
  readonly custom?: boolean;
  readonly path: string;
  readonly body: Readonly<Record<string, Json | Buffer>>;
  readonly as?: 'json' | 'form';
}

/** Spelling of a call; the vendor reads the same in each. */
interface JsonSpelling {
  /** Number of characters, of every 4 in all strings and names of a JSON body, that are escaped. */
  readonly escapes: number;
  readonly fractions: boolean;
  /** Whether a letter of the path is escaped. */
  readonly path: boolean;
}

const PLAIN: JsonSpelling = { escapes: 0, fractions: false, path: false };
const arbitrarySpelling: fc.Arbitrary<JsonSpelling> = fc.record({
  escapes: fc.nat(3),
  fractions: fc.integer({ min: 0, max: 9 }).map((one) => one === 9),
  path: fc.integer({ min: 0, max: 9 }).map((one) => one === 9),
});

async function reserveCall(call: CallCase, spelling: JsonSpelling): Promise<ReservationOutcome> {
  const { vendor, custom, body, as } = call;
  const escaped = (at: number): boolean => (at * 7) % 4 < spelling.escapes;
  const sent =
    as === 'form'
      ? encodeForm(body)
      : {
          contentType: 'application/json',
          body: Buffer.from(respellJson(JSON.stringify(body), escaped, spelling.fractions)),
        };
  const path = spelling.path ? call.path.replace(/[a-z](?=[a-z]*$)/, escapeLetter) : call.path;
  const provider = custom ? `own-${vendor}/llm` : vendor;
  return await reserveThroughPipeline(gateway, agent, { path: `/v1/proxy/${provider}${path}`, ...sent });
}

const escapeLetter = (letter: string): string => `%${letter.charCodeAt(0).toString(16)}`;

function worstCaseCostOf({ vendor, custom, path, body }: CallCase): number {
  const call = { vendor, path, model: String(body.model), body };
  return worstCaseCostNanos(
    call,
    prices,
    upstreamFor(provider.origin, vendor, custom ?? false),
    DEFAULT_RESERVED_OUTPUT_TOKENS,
  );
}

/** A rejection because the call cannot be bounded or its body is ambiguous. */
const isRejection = (outcome: ReservationOutcome): boolean =>
  outcome.kind === 'rejected' &&
  (outcome.status === 400 || outcome.body.denied === 'unmetered' || outcome.body.reason === 'never_fits');

test('reservation bound: every call of the catalogue with a priced body has a generator', () => {
  const listed = [
    ...catalogue.get('openai')!.modelCalls.map(({ call, at }) => ({ vendor: 'openai', call, at })),
    ...catalogue.get('anthropic')!.modelCalls.map(({ call, at }) => ({ vendor: 'anthropic', call, at })),
  ];
  const wanted = listed.flatMap(({ vendor, call, at }) => {
    const path = call.slice('* '.length);
    if (at === 'json_or_form') return [`${vendor} ${path} json`, `${vendor} ${path} form`];
    return at === 'json' || at === 'form' ? [`${vendor} ${path} ${at}`] : [];
  });
  expect(CALL_GENERATORS.map(({ vendor, path, encoding: as }) => `${vendor} ${path} ${as}`).sort()).toEqual(
    wanted.sort(),
  );
});

describe.each([false, true])(
  'reservation bound: reserves at least the highest bill or rejects the call (custom provider: %s)',
  (custom) => {
    test.each(CALL_GENERATORS)('$vendor $path as $as', async ({ vendor, path, encoding: as, bodies }) => {
      let reserved = 0;
      const property = fc.asyncProperty(bodies, arbitrarySpelling, async (body, spelling) => {
        const call: CallCase = { vendor, custom, path, as, body };
        const outcome = await reserveCall(call, spelling);
        if (outcome.kind === 'rejected') {
          expect(isRejection(outcome), JSON.stringify(outcome)).toBe(true);
          return;
        }
        reserved++;
        expect(outcome.nanos).toBeGreaterThanOrEqual(worstCaseCostOf(call));
      });
      await fc.assert(property, { numRuns: RUNS, seed: SEED });
      // Guards against a gateway that rejects everything.
      expect(reserved).toBeGreaterThan(0);
    });
  },
);

/** Cases from reviews: what multiplies the price, and the call. */
const REPORTED_CASES: readonly (readonly [what: string, call: CallCase])[] = [
  [
    'a completion for each prompt of an array',
    openai('/v1/completions', { model: 'gpt-3.5-turbo-instruct', prompt: Array(2_000).fill('a'), max_tokens: 4_000 }),
  ],
  ['a stored prompt', openai('/v1/responses', { model: 'gpt-5', max_output_tokens: 16, prompt: { id: 'pmpt_1' } })],
  [
    'a file in the output of a function',
    openai('/v1/responses', {
      model: 'gpt-5',
      max_output_tokens: 16,
      input: [{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_file', file_id: 'file-1' }] }],
    }),
  ],
  [
    'a document by its URL in the result of a tool',
    anthropic([
      {
        type: 'tool_result',
        tool_use_id: 't',
        content: [{ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }],
      },
    ]),
  ],
  [
    'a PDF of few bytes and many pages',
    anthropic([
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: createPdf(40, 3_000, true).toString('base64') },
      },
    ]),
  ],
  [
    'twenty pictures of few bytes',
    openai('/v1/chat/completions', {
      model: 'gpt-4o-mini',
      max_tokens: 16,
      messages: [{ role: 'user', content: Array(20).fill(inlineImage(1_900, 1_900)) }],
    }),
  ],
  [
    'one picture of few bytes that the model does not scale down',
    openai('/v1/chat/completions', {
      model: 'gpt-6.1-sol',
      max_completion_tokens: 16,
      messages: [{ role: 'user', content: [inlineImage(6_000, 4_000)] }],
    }),
  ],
  [
    'a hundred embeddings of 3000 tokens',
    openai('/v1/embeddings', { model: 'text-embedding-3-large', input: Array(100).fill('word '.repeat(3_000)) }),
  ],
  // Found by the random bodies.
  [
    'a picture by its URL that the model does not scale down',
    openai('/v1/responses', {
      model: 'gpt-6.1-sol',
      max_output_tokens: 16,
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://example.com/a', detail: 'auto' }] }],
    }),
  ],
  [
    'audio of an earlier assistant message',
    openai('/v1/chat/completions', {
      model: 'gpt-audio',
      max_completion_tokens: 16,
      messages: [{ role: 'assistant', audio: { id: 'audio_1' } }],
    }),
  ],
  [
    'agents that create further agents',
    openai('/v1/responses', {
      model: 'gpt-6.1-sol',
      max_output_tokens: 16,
      input: 'a',
      multi_agent: { enabled: true },
    }),
  ],
  [
    'a suffix after each prompt of an array',
    openai('/v1/completions', {
      model: 'gpt-3.5-turbo-instruct',
      max_tokens: 16,
      prompt: Array(100).fill('a'),
      suffix: 'word '.repeat(400),
    }),
  ],
  [
    'the largest generated image',
    openai('/v1/images/generations', { model: 'gpt-image-2', quality: 'high', size: '2880x2880', prompt: 'a' }),
  ],
  [
    'an image of the small model',
    openai('/v1/images/generations', { model: 'gpt-image-1-mini', quality: 'high', size: '1024x1536', prompt: 'a' }),
  ],
  [
    'the hidden prompt of tools',
    {
      ...anthropic('a'),
      body: { ...anthropic('a').body, tools: [{ type: 'bash_20250124', name: 'bash' }] },
    },
  ],
];

test.each(REPORTED_CASES)('reservation bound: %s', async (_what, call) => {
  const outcome = await reserveCall(call, PLAIN);
  expect(worstCaseCostOf(call)).toBeGreaterThan(0); // without prices every reservation would be high enough
  if (outcome.kind === 'reserved') expect(outcome.nanos).toBeGreaterThanOrEqual(worstCaseCostOf(call));
  else expect(isRejection(outcome), JSON.stringify(outcome)).toBe(true);
});

const TIERED = { model: 'gpt-4o', max_tokens: 4_000, messages: [], service_tier: 'priority' };
const FAST = { model: 'claude-opus-5-5', max_tokens: 4_000, messages: [], speed: 'fast' };

test.each([
  ['service_tier', openai('/v1/chat/completions', TIERED)],
  ['speed', { vendor: 'anthropic', path: '/v1/messages', body: FAST }],
] as [string, CallCase][])('reservation: %s counts in every spelling', async (_what, call) => {
  for (const escapes of [0, 1, 2, 3]) {
    const outcome = await reserveCall(call, { ...PLAIN, escapes });
    if (outcome.kind !== 'reserved') throw new Error(JSON.stringify(outcome));
    expect(outcome.nanos).toBeGreaterThanOrEqual(worstCaseCostOf(call));
  }
});

function openai(path: string, body: CallCase['body']): CallCase {
  return { vendor: 'openai', path, body };
}

function anthropic(content: Json): CallCase {
  const body = { model: 'claude-opus-5-5', max_tokens: 16, messages: [{ role: 'user', content }] };
  return { vendor: 'anthropic', path: '/v1/messages', body };
}

function inlineImage(width: number, height: number): Json {
  return {
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${createPng(width, height).toString('base64')}` },
  };
}
