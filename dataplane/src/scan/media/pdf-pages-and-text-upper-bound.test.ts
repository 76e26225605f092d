import { expect, test } from 'vitest';
import { InflateBudget, measurePdf } from './pdf-pages-and-text-upper-bound.js';
import { createPdfStream, createTestPdf } from './testing/pdf-fixture.js';

/** The budget of a request that is long enough for the maximum. */
const fullBudget = () => new InflateBudget(1_000_000);
const measure = (file: Buffer, budget = fullBudget()) => measurePdf(file, budget);

test('measurePdf counts pages and the strings that they draw', () => {
  const facts = measure(createTestPdf({ pages: 10, charsPerPage: 3_000 }))!;
  expect(facts.pages).toBe(10);
  // 66 lines of 46 characters, at most three bytes each, and the end of each string
  expect(facts.textBytes).toBeGreaterThanOrEqual(10 * 66 * 46);
  expect(facts.textBytes).toBeLessThanOrEqual(10 * 66 * 47 * 3);
});

test('measurePdf counts deflated text uncompressed', () => {
  const file = createTestPdf({ pages: 1, charsPerPage: 1_000_000 });
  expect(file.length).toBeLessThan(10_000);
  expect(measure(file)!.textBytes).toBeGreaterThan(1_000_000);
});

test('measurePdf multiplies the text by the longest glyph mapping of a font', () => {
  const table = createPdfStream(9, `1 beginbfchar <41> <${'0041'.repeat(100)}> endbfchar`);
  const more = [`8 0 obj\n<< /Type /Font /ToUnicode 9 0 R >>\nendobj\n`, table];
  const plain = measure(createTestPdf({ pages: 1, charsPerPage: 100 }))!;
  expect(measure(createTestPdf({ pages: 1, charsPerPage: 100, more }))!.textBytes).toBe((plain.textBytes / 3) * 300);
});

test('measurePdf counts a stream once for each page that draws it', () => {
  const once = measure(createTestPdf({ pages: 1, charsPerPage: 1_000 }))!;
  const page = (at: number): string => `${at} 0 obj\n<< /Type /Page /Contents 101 0 R >>\nendobj\n`;
  const more = [page(50), page(51), '49 0 obj\n<< /Type /Pages /Kids [50 0 R 51 0 R] >>\nendobj\n'];
  expect(measure(createTestPdf({ pages: 1, charsPerPage: 1_000, more }))).toEqual({
    pages: 3,
    textBytes: 3 * once.textBytes,
  });
});

const FORM = createPdfStream(60, 'BT (more) Tj ET', '/Type /XObject /Subtype /Form ');
test.each([
  ['a form, which can be drawn repeatedly', { more: [FORM] }],
  ['a name with escapes', { more: ['60 0 obj\n<< /Con#74ents 101 0 R >>\nendobj\n'] }],
  ['a page that is twice in the page tree', { more: ['60 0 obj\n<< /Kids [100 0 R] >>\nendobj\n'] }],
  ['an attachment', { more: ['60 0 obj\n<< /EmbeddedFiles 5 0 R >>\nendobj\n'] }],
  ['an object defined twice', { more: [createPdfStream(101, '(other) Tj')] }],
  ['an object that only some readers find', { more: ['60%\n0 obj\n<< /Contents 101 0 R >>\nendobj\n'] }],
  ['a content that is no reference', { ofPage: '/Contents (text)' }],
  ['a glyph for several characters', { more: ['60 0 obj\n<< /Differences [1 /uni004100420043] >>\nendobj\n'] }],
  ['more than the inflate budget', { content: '(x) Tj '.repeat(700_000) }],
])('measurePdf returns null for %s', (_what, options) => {
  expect(measure(createTestPdf({ pages: 2, charsPerPage: 100, ...options }))).toBeNull();
});

test('measurePdf returns null for other formats, truncated files and other filters', () => {
  const file = createTestPdf({ pages: 2, charsPerPage: 3_000 });
  expect(measure(Buffer.from('PK\x03\x04'))).toBeNull();
  expect(measure(file.subarray(0, file.indexOf('101 0 obj')))).toBeNull();
  const other = Buffer.from(file.toString('latin1').replaceAll('/FlateDecode', '/ASCII85Decode'), 'latin1');
  expect(measure(other)).toBeNull();
  expect(measure(Buffer.concat([file, Buffer.alloc(5_000_000)]))).toBeNull();
});

test.each([
  ['/Kids[', ''],
  ['/Contents[', ''],
  ['1 0 obj ', '<</Kids[1 0 R]>>'],
  ['/ToUnicode ', ''],
])('measurePdf reads a file made of %j in linear time', (piece, end) => {
  const file = Buffer.from(`%PDF-1.7\n1 0 obj ${piece.repeat(Math.floor(4_000_000 / piece.length))}${end}`);
  const began = process.cpuUsage();
  expect(measure(file)).toBeNull();
  expect(process.cpuUsage(began).user).toBeLessThan(1_000_000); // µs of this process: no load of the machine changes it
});

test('all files of a request share one inflate budget', () => {
  const budget = fullBudget();
  const file = createTestPdf({ pages: 1, charsPerPage: 1_000_000 });
  const read = Array.from({ length: 5 }, () => measure(file, budget) !== null);
  expect(read).toEqual([true, true, true, false, false]);
});

test('the inflate budget of a small request is smaller', () => {
  const file = createTestPdf({ pages: 1, charsPerPage: 1_000_000 });
  expect(file.length).toBeLessThan(10_000);
  expect(measure(file, new InflateBudget(file.length))).toBeNull();
  const usual = createTestPdf({ pages: 10, charsPerPage: 3_000 });
  expect(measure(usual, new InflateBudget(usual.length))).toEqual(measure(usual));
});

test.each([
  ['contents', `<< /Contents [${'101 0 R '.repeat(20_001)}] >>`],
  ['pages', `<< /Kids [${Array.from({ length: 20_001 }, (_, i) => `${i + 1_000} 0 R`).join(' ')}] >>`],
  ['tables', Array.from({ length: 20_001 }, (_, i) => `<< /ToUnicode ${i + 1_000} 0 R >>`).join(' ')],
])('measurePdf does not follow more references to %s than any real file has', (_what, objects) => {
  const budget = fullBudget();
  expect(
    measure(createTestPdf({ pages: 1, charsPerPage: 100, more: [createPdfStream(60, objects, '/First 0 ')] }), budget),
  ).toBeNull();
  expect(budget.streams).toBe(fullBudget().streams - 1); // the object stream alone
});
