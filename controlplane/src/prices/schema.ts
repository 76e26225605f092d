import { type Static, type TSchema, Type } from 'typebox';
import { PageQuery, PageReply } from '../http/pagination.js';
import { IMAGE_FIELD, RATE_FIELDS, REQUEST_FIELD, TIER_FIELDS, UNIT_FIELDS } from './price-fields.js';

const SOURCES = ['file', 'built_in', 'library', 'fallback'] as const;
type Source = (typeof SOURCES)[number];
const Source = (description?: string) =>
  Type.Unsafe<Source>({ type: 'string', enum: SOURCES, ...(description === undefined ? {} : { description }) });

const numbers = (fields: readonly { readonly field: string; readonly says: string }[]): Record<string, TSchema> =>
  Object.fromEntries(fields.map(({ field, says }) => [field, Type.Optional(Type.Number({ description: says }))]));
const Rates = numbers(RATE_FIELDS);
const nullable = (type: TSchema) => Type.Union([type, Type.Null()]);
const Day = Type.String({ format: 'date', description: 'UTC.' });
const Line = Type.Integer({ description: 'Of PRICES_FILE; 1 is its first line.' });

const PriceView = Type.Object({
  provider: Type.String({ description: 'Slug.' }),
  model: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Null: the price of each request of the provider. `*`: every model without another price.',
  }),
  source: Source(
    'Where it comes from: the operator’s PRICES_FILE, the prices built into the gateway, its price library; `fallback`: no list knows the model, so it costs what the vendor’s dearest does.',
  ),
  from: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date',
    description: 'UTC day from which this price holds; null: it is not dated.',
  }),
  file: Type.Unsafe<{ line: number; fields: string[] } | null>({
    ...nullable(Type.Object({ line: Line, fields: Type.Array(Type.String()) })),
    description: 'With source `file`: where it stands and what it names. All other prices are those of the lists.',
  }),
  upcoming: Type.Array(Type.Object({ from: Day, line: Line }), {
    description: 'Prices of PRICES_FILE that begin later.',
  }),
  prices: Type.Unsafe<Record<string, number>>(
    Type.Object(
      {
        ...Rates,
        ...numbers(UNIT_FIELDS),
        ...numbers(TIER_FIELDS),
        [REQUEST_FIELD.field]: Type.Optional(Type.Number({ description: 'USD of each request, beside its tokens.' })),
      },
      { description: 'In force. What is 0, and a percentage of 100, is left out.' },
    ),
  ),
  [IMAGE_FIELD.field]: Type.Unsafe<Record<string, number> | null>({
    ...nullable(Type.Record(Type.String(), Type.Number())),
    description: 'USD of an image, by its size; null: images cost their tokens.',
  }),
  bands: Type.Unsafe<({ aboveTokensIn: number } & Record<string, number>)[]>(
    Type.Array(Type.Object({ aboveTokensIn: Type.Integer(), ...Rates }), {
      description: 'Prices of the whole request where its prompt, cached tokens counted in, is longer.',
    }),
  ),
});
export type PriceView = Static<typeof PriceView>;

export const PriceQuery = Type.Object({
  ...PageQuery,
  provider: Type.Optional(Type.String({ maxLength: 40, description: 'Slug.' })),
  model: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: 'What calls of exactly this model cost, known or not.' }),
  ),
  search: Type.Optional(Type.String({ maxLength: 100, description: 'A part of the model’s name, in any case.' })),
  source: Type.Optional(Source()),
});
export type PriceQuery = Static<typeof PriceQuery>;

export const PriceListing = Type.Object({
  prices: Type.Array(PriceView),
  fileReadAt: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'When PRICES_FILE was last read; null without PRICES_FILE.',
  }),
  ...PageReply,
});
