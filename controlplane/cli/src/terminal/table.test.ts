import stringWidth from 'fast-string-width';
import { expect, test } from 'vitest';
import { type Column, formatTable } from './table.js';

interface Row {
  readonly name: string;
  readonly calls: string;
}
const COLUMNS: readonly Column<Row>[] = [
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'CALLS', cell: ({ calls }) => calls, alignRight: true },
];
const plain = (text: string): string => text;

test('aligned on a terminal, whatever the width of the characters; numbers flush right', () => {
  const rows = [
    { name: 'a', calls: '1 204' },
    { name: '日本', calls: '7' },
  ];
  expect(formatTable(COLUMNS, rows, { width: 80, faint: plain })).toEqual([
    'NAME  CALLS',
    'a     1 204',
    '日本      7',
  ]);
});

test('control characters and line breaks are shown escaped', () => {
  const rows = [{ name: '\u001b[2Ja\nb\tc\u202e', calls: '1' }];
  for (const width of [80, null]) {
    const lines = formatTable(COLUMNS, rows, { width, faint: plain });
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain('\\u001b[2Ja\\u000ab\\u0009c\\u202e');
  }
});

test('a cell that is wider than the terminal is cut there, and whole for programs', () => {
  const rows = [
    { name: 'x'.repeat(10_000), calls: '1' },
    { name: 'y', calls: '2' },
  ];
  const [, long, short] = formatTable(COLUMNS, rows, { width: 20, faint: plain });
  expect([stringWidth(long!), stringWidth(short!)]).toEqual([27, 27]);
  expect(long).toContain('x…');
  expect(formatTable(COLUMNS, rows, { width: null, faint: plain })[1]).toBe(`${'x'.repeat(10_000)}\t1`);
});
