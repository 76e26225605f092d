/** What random bodies of both vendors are made of: texts, pictures, PDFs, settings that may be missing. */
import fc, { type Arbitrary } from 'fast-check';
import type { Json } from './prompt-usage.js';
import { pdf, png } from './sample-files.js';

export type Body = Readonly<Record<string, Json | Buffer>>;

export const base64 = (file: Buffer): string => file.toString('base64');
export const of = <T>(...values: T[]): Arbitrary<T> => fc.constantFrom(...values);
export const sized = (models: Readonly<Record<string, unknown>>): Arbitrary<string> => of(...Object.keys(models));
/** Members that are missing as often as not. */
export const optional = <T extends object>(members: { [K in keyof T]: Arbitrary<T[K]> }): Arbitrary<Partial<T>> =>
  fc.record(members, { requiredKeys: [] }) as Arbitrary<Partial<T>>;
export const merged = (...parts: Arbitrary<object>[]): Arbitrary<Body> =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all) as Body);

export const text: Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }) },
  // A token for nearly each byte, and text of which four bytes are one.
  { weight: 1, arbitrary: fc.integer({ min: 100, max: 3_000 }).map((count) => '𒐫'.repeat(count)) },
  { weight: 1, arbitrary: fc.integer({ min: 100, max: 4_000 }).map((count) => 'word '.repeat(count)) },
);
export const tokenIds: Arbitrary<number[]> = fc.array(fc.nat(100_000), { minLength: 1, maxLength: 200 });
export const tokensMax = (max: number): Arbitrary<number> =>
  fc.oneof(fc.integer({ min: 16, max: 64 }), fc.integer({ min: 16, max }));
export const id = (prefix: string): Arbitrary<string> => fc.integer({ min: 1, max: 999 }).map((n) => `${prefix}${n}`);

export const picture: Arbitrary<Buffer> = of<[number, number]>(
  [16, 16],
  [512, 512],
  [1_024, 1_024],
  [2_048, 768],
  [1_900, 1_900],
  [6_000, 4_000],
).map(([width, height]) => png(width, height));
/** At most 2000 px a side, which Anthropic also takes among many. */
export const smallPicture: Arbitrary<Buffer> = of<[number, number]>([16, 16], [1_000, 1_000], [1_900, 1_900]).map(
  ([width, height]) => png(width, height),
);
export const address: Arbitrary<string> = of('https://example.com/a', 'http://example.com/picture.png');
export const pages: Arbitrary<Buffer> = fc
  .record({ pages: of(1, 3, 10, 40), words: of(5, 300, 3_000), packed: fc.boolean() })
  .map(({ pages: count, words, packed }) => pdf(count, words, packed));

export const some = <T>(item: Arbitrary<T>, maxLength = 5): Arbitrary<T[]> =>
  fc.array(item, { minLength: 1, maxLength });
/** The same item several times: nothing is counted once only. */
export const repeated = <T>(item: Arbitrary<T>, times: number): Arbitrary<T[]> =>
  fc.oneof(
    some(item),
    fc.tuple(item, fc.integer({ min: 1, max: times })).map(([one, count]) => Array(count).fill(one)),
  );
