import { type Static, type TSchema, Type } from 'typebox';
import { EXAMPLE_TIMES } from '../http/examples.js';
import { PageQuery, PageReply } from '../http/limit-offset-pagination.js';
import { ERRORS_FIELD, IMAGE_FIELD, RATE_FIELDS, REQUEST_FIELD, TIER_FIELDS, UNIT_FIELDS } from './price-fields.js';

const SOURCES = ['file', 'built_in', 'library', 'fallback'] as const;
type Source = (typeof SOURCES)[number];
const Source = (description?: string) =>
  Type.Unsafe<Source>({ type: 'string', enum: SOURCES, ...(description === undefined ? {} : { description }) });

const numbers = (fields: readonly { readonly field: string; readonly says: string }[]): Record<string, TSchema> =>
  Object.fromEntries(fields.map(({ field, says }) => [field, Type.Optional(Type.Number({ description: says }))]));
const Rates = numbers(RATE_FIELDS);
const nullable = (type: TSchema) => Type.Union([type, Type.Null()]);
const Day = Type.String({ format: 'date', description: 'UTC.' });
const Line = Type.Integer({ description: 'Line in PRICES_FILE; 1 is its first line.' });

const PriceView = Type.Object({
  provider: Type.String({ description: 'Slug of the provider.' }),
  model: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Null: the price per request of the provider, or of a `tool`. `*`: every model without its own price.',
  }),
  tool: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Tool of an MCP server whose calls cost `perRequestUsd`; null: the price of a model or a provider.',
  }),
  [ERRORS_FIELD]: Type.Boolean({ description: 'Results of the tool with `isError: true` cost the same.' }),
  source: Source(
    'Source: the operator’s PRICES_FILE, the prices built into the gateway or its price library. `fallback`: no list has the model, so it is billed at the price of the vendor’s most expensive model.',
  ),
  from: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date',
    description: 'UTC day from which this price applies; null: no start day.',
  }),
  file: Type.Unsafe<{ line: number; fields: string[] } | null>({
    ...nullable(Type.Object({ line: Line, fields: Type.Array(Type.String()) })),
    description:
      'With source `file`: the line of the entry and the fields it sets. All other prices come from the lists.',
  }),
  upcoming: Type.Array(Type.Object({ from: Day, line: Line }), {
    description: 'Prices of PRICES_FILE that start later.',
  }),
  prices: Type.Unsafe<Record<string, number>>(
    Type.Object(
      {
        ...Rates,
        ...numbers(UNIT_FIELDS),
        ...numbers(TIER_FIELDS),
        [REQUEST_FIELD.field]: Type.Optional(
          Type.Number({ description: 'USD per request in addition to its tokens.' }),
        ),
      },
      { description: 'Prices in force. Prices of 0 and percentages of 100 are omitted.' },
    ),
  ),
  [IMAGE_FIELD.field]: Type.Unsafe<Record<string, number> | null>({
    ...nullable(Type.Record(Type.String(), Type.Number())),
    description: 'USD per image by size; null: images are billed by tokens.',
  }),
  bands: Type.Unsafe<({ aboveTokensIn: number } & Record<string, number>)[]>(
    Type.Array(Type.Object({ aboveTokensIn: Type.Integer(), ...Rates }), {
      description: 'Prices of the whole request when its prompt, including cached tokens, is longer.',
    }),
  ),
});
export type PriceView = Static<typeof PriceView>;

export const PriceQuery = Type.Object({
  ...PageQuery,
  provider: Type.Optional(Type.String({ maxLength: 40, description: 'Slug of the provider.' })),
  model: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Prices of exactly this model, listed or not, or of this tool.',
    }),
  ),
  search: Type.Optional(Type.String({ maxLength: 100, description: 'Part of the model’s name, case-insensitive.' })),
  source: Type.Optional(Source()),
});
export type PriceQuery = Static<typeof PriceQuery>;

export const PriceListing = Type.Object({
  prices: Type.Array(PriceView),
  fileReadAt: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'Time at which PRICES_FILE was last read; null without PRICES_FILE.',
  }),
  ...PageReply,
});

/** For the API document. */
export const EXAMPLES = {
  model: 'gpt-5-mini',
  'prices.provider': 'openai',
  'prices.tool': null,
  [ERRORS_FIELD]: false,
  'prices.from': '2026-01-01',
  'upcoming.from': '2026-04-01',
  'file.line': 4,
  'file.fields': ['inputPerMTok', 'outputPerMTok'],
  'upcoming.line': 9,
  fileReadAt: EXAMPLE_TIMES.used,
  inputPerMTok: 2,
  outputPerMTok: 10,
  cachedInputPerMTok: 0.1,
  cacheWritePerMTok: 2.5,
  cacheWrite1hPerMTok: 4,
  audioInputPerMTok: 32,
  imageInputPerMTok: 8,
  audioOutputPerMTok: 64,
  imageOutputPerMTok: 32,
  perThousandWebSearchesUsd: 10,
  perThousandFileSearchesUsd: 2.5,
  perContainerUsd: 0.03,
  perCodeSessionUsd: 0.004,
  perAudioMinuteUsd: 0.006,
  perVideoSecondUsd: 0.1,
  perLargeVideoSecondUsd: 0.5,
  perMillionCharactersUsd: 15,
  perRequestUsd: 0.0004,
  batchPercent: 50,
  flexPercent: 50,
  priorityPercent: 200,
  fastPercent: 200,
  ultrafastPercent: 600,
  usPercent: 110,
  aboveTokensIn: 272_000,
};
