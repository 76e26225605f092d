import { expect, test } from 'vitest';
import { InflateBudget, measurePdf } from './pdf-size.js';
import { createPdfStream, createTestPdf } from './testing/pdf-fixture.js';

/** Of a request that is long enough for all that is inflated at most. */
const fullRoom = () => new InflateBudget(1_000_000);
const factsOf = (file: Buffer, room = fullRoom()) => measurePdf(file, room);

test('pdf: pages, and the strings that they draw', () => {
  const facts = factsOf(createTestPdf({ pages: 10, charsPerPage: 3_000 }))!;
  expect(facts.pages).toBe(10);
  // 66 lines of 46 characters, each of them at most three bytes, and what ends each string
  expect(facts.textBytes).toBeGreaterThanOrEqual(10 * 66 * 46);
  expect(facts.textBytes).toBeLessThanOrEqual(10 * 66 * 47 * 3);
});

test('pdf: text that is packed a hundredfold is counted unpacked', () => {
  const file = createTestPdf({ pages: 1, charsPerPage: 1_000_000 });
  expect(file.length).toBeLessThan(10_000);
  expect(factsOf(file)!.textBytes).toBeGreaterThan(1_000_000);
});

test('pdf: a font whose glyphs stand for much text multiplies it', () => {
  const table = createPdfStream(9, `1 beginbfchar <41> <${'0041'.repeat(100)}> endbfchar`);
  const more = [`8 0 obj\n<< /Type /Font /ToUnicode 9 0 R >>\nendobj\n`, table];
  const plain = factsOf(createTestPdf({ pages: 1, charsPerPage: 100 }))!;
  expect(factsOf(createTestPdf({ pages: 1, charsPerPage: 100, more }))!.textBytes).toBe((plain.textBytes / 3) * 300);
});

test('pdf: one stream drawn by many pages counts for each of them', () => {
  const once = factsOf(createTestPdf({ pages: 1, charsPerPage: 1_000 }))!;
  const page = (at: number): string => `${at} 0 obj\n<< /Type /Page /Contents 101 0 R >>\nendobj\n`;
  const more = [page(50), page(51), '49 0 obj\n<< /Type /Pages /Kids [50 0 R 51 0 R] >>\nendobj\n'];
  expect(factsOf(createTestPdf({ pages: 1, charsPerPage: 1_000, more }))).toEqual({
    pages: 3,
    textBytes: 3 * once.textBytes,
  });
});

const FORM = createPdfStream(60, 'BT (more) Tj ET', '/Type /XObject /Subtype /Form ');
test.each([
  ['a form, which can be drawn again and again', { more: [FORM] }],
  ['a name that is spelled with escapes', { more: ['60 0 obj\n<< /Con#74ents 101 0 R >>\nendobj\n'] }],
  ['a page that stands in the tree twice', { more: ['60 0 obj\n<< /Kids [100 0 R] >>\nendobj\n'] }],
  ['an attachment', { more: ['60 0 obj\n<< /EmbeddedFiles 5 0 R >>\nendobj\n'] }],
  ['an object that is there twice', { more: [createPdfStream(101, '(other) Tj')] }],
  ['an object that only some readers find', { more: ['60%\n0 obj\n<< /Contents 101 0 R >>\nendobj\n'] }],
  ['a content that is no reference', { ofPage: '/Contents (text)' }],
  [
    'a glyph that stands for several characters',
    { more: ['60 0 obj\n<< /Differences [1 /uni004100420043] >>\nendobj\n'] },
  ],
  ['more than is read', { content: '(x) Tj '.repeat(700_000) }],
])('pdf: not bounded: %s', (_what, options) => {
  expect(factsOf(createTestPdf({ pages: 2, charsPerPage: 100, ...options }))).toBeNull();
});

test('pdf: not bounded: what is no PDF, is cut off, or is coded otherwise', () => {
  const file = createTestPdf({ pages: 2, charsPerPage: 3_000 });
  expect(factsOf(Buffer.from('PK\x03\x04'))).toBeNull();
  expect(factsOf(file.subarray(0, file.indexOf('101 0 obj')))).toBeNull();
  const other = Buffer.from(file.toString('latin1').replaceAll('/FlateDecode', '/ASCII85Decode'), 'latin1');
  expect(factsOf(other)).toBeNull();
  expect(factsOf(Buffer.concat([file, Buffer.alloc(5_000_000)]))).toBeNull();
});

test.each([
  ['/Kids[', ''],
  ['/Contents[', ''],
  ['1 0 obj ', '<</Kids[1 0 R]>>'],
  ['/ToUnicode ', ''],
])('pdf: a file made of %j is read in time', (piece, end) => {
  const file = Buffer.from(`%PDF-1.7\n1 0 obj ${piece.repeat(Math.floor(4_000_000 / piece.length))}${end}`);
  const began = performance.now();
  expect(factsOf(file)).toBeNull();
  expect(performance.now() - began).toBeLessThan(1_000);
});

test('pdf: all files of a request are inflated to so much together', () => {
  const room = fullRoom();
  const file = createTestPdf({ pages: 1, charsPerPage: 1_000_000 });
  const read = Array.from({ length: 5 }, () => factsOf(file, room) !== null);
  expect(read).toEqual([true, true, true, false, false]);
});

test('pdf: a small request is inflated to less than a long one', () => {
  const file = createTestPdf({ pages: 1, charsPerPage: 1_000_000 });
  expect(file.length).toBeLessThan(10_000);
  expect(factsOf(file, new InflateBudget(file.length))).toBeNull();
  const usual = createTestPdf({ pages: 10, charsPerPage: 3_000 });
  expect(factsOf(usual, new InflateBudget(usual.length))).toEqual(factsOf(usual));
});

test.each([
  ['contents', `<< /Contents [${'101 0 R '.repeat(20_001)}] >>`],
  ['pages', `<< /Kids [${Array.from({ length: 20_001 }, (_, i) => `${i + 1_000} 0 R`).join(' ')}] >>`],
  ['tables', Array.from({ length: 20_001 }, (_, i) => `<< /ToUnicode ${i + 1_000} 0 R >>`).join(' ')],
])('pdf: more references to %s than any real file has are not followed', (_what, objects) => {
  const room = fullRoom();
  expect(
    factsOf(createTestPdf({ pages: 1, charsPerPage: 100, more: [createPdfStream(60, objects, '/First 0 ')] }), room),
  ).toBeNull();
  expect(room.streams).toBe(fullRoom().streams - 1); // the object stream alone
});
