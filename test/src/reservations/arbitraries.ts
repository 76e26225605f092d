/** Building blocks of random bodies for both vendors: texts, pictures, PDFs and optional settings. */
import fc, { type Arbitrary } from 'fast-check';
import type { Json } from './max-prompt-tokens.js';
import { createPdf, createPng } from './sample-files.js';

export type Body = Readonly<Record<string, Json | Buffer>>;

export const base64 = (file: Buffer): string => file.toString('base64');
export const oneOf = <T>(...values: T[]): Arbitrary<T> => fc.constantFrom(...values);
export const modelWithKnownLimits = (models: Readonly<Record<string, unknown>>): Arbitrary<string> =>
  oneOf(...Object.keys(models));
/** Fields that are missing in half of the bodies. */
export const optionalFields = <T extends object>(members: { [K in keyof T]: Arbitrary<T[K]> }): Arbitrary<Partial<T>> =>
  fc.record(members, { requiredKeys: [] }) as Arbitrary<Partial<T>>;
export const mergedObjects = (...parts: Arbitrary<object>[]): Arbitrary<Body> =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all) as Body);

export const text: Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }) },
  // Text with nearly one token per byte, and text with four bytes per token.
  { weight: 1, arbitrary: fc.integer({ min: 100, max: 3_000 }).map((count) => '𒐫'.repeat(count)) },
  { weight: 1, arbitrary: fc.integer({ min: 100, max: 4_000 }).map((count) => 'word '.repeat(count)) },
);
export const tokenIds: Arbitrary<number[]> = fc.array(fc.nat(100_000), { minLength: 1, maxLength: 200 });
export const maxTokens = (max: number): Arbitrary<number> =>
  fc.oneof(fc.integer({ min: 16, max: 64 }), fc.integer({ min: 16, max }));
export const prefixedId = (prefix: string): Arbitrary<string> =>
  fc.integer({ min: 1, max: 999 }).map((n) => `${prefix}${n}`);

export const pngFile: Arbitrary<Buffer> = oneOf<[number, number]>(
  [16, 16],
  [512, 512],
  [1_024, 1_024],
  [2_048, 768],
  [1_900, 1_900],
  [6_000, 4_000],
).map(([width, height]) => createPng(width, height));
/** At most 2000 px per side, which Anthropic accepts also among many images. */
export const smallPngFile: Arbitrary<Buffer> = oneOf<[number, number]>([16, 16], [1_000, 1_000], [1_900, 1_900]).map(
  ([width, height]) => createPng(width, height),
);
export const imageUrl: Arbitrary<string> = oneOf('https://example.com/a', 'http://example.com/picture.png');
export const pdfFile: Arbitrary<Buffer> = fc
  .record({ pages: oneOf(1, 3, 10, 40), words: oneOf(5, 300, 3_000), packed: fc.boolean() })
  .map(({ pages: count, words, packed }) => createPdf(count, words, packed));

export const nonEmptyArray = <T>(item: Arbitrary<T>, maxLength = 5): Arbitrary<T[]> =>
  fc.array(item, { minLength: 1, maxLength });
/** The same item several times: no item may be counted only once. */
export const repeatedItem = <T>(item: Arbitrary<T>, times: number): Arbitrary<T[]> =>
  fc.oneof(
    nonEmptyArray(item),
    fc.tuple(item, fc.integer({ min: 1, max: times })).map(([one, count]) => Array(count).fill(one)),
  );
