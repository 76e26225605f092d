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
  expect(formatTable(COLUMNS, rows, { width: 80, faint: plain }).lines).toEqual([
    'NAME  CALLS',
    'a     1 204',
    '日本      7',
  ]);
});

test('control characters and line breaks are shown escaped', () => {
  const rows = [{ name: '\u001b[2Ja\nb\tc\u202e', calls: '1' }];
  for (const width of [80, null]) {
    const { lines } = formatTable(COLUMNS, rows, { width, faint: plain });
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain('\\u001b[2Ja\\u000ab\\u0009c\\u202e');
  }
});

test('a cell that is wider than the terminal is cut there, and whole for programs', () => {
  const rows = [
    { name: 'x'.repeat(10_000), calls: '1' },
    { name: 'y', calls: '2' },
  ];
  const [, long, short] = formatTable(COLUMNS, rows, { width: 20, faint: plain }).lines;
  expect([stringWidth(long!), stringWidth(short!)]).toEqual([15, 15]);
  expect(long).toContain('x…');
  expect(formatTable(COLUMNS, rows, { width: null, faint: plain }).lines[1]).toBe(`${'x'.repeat(10_000)}\t1`);
});

test.each([80, 60])(
  'a terminal of %i columns: commands to copy are whole, columns are left out from the right',
  (width) => {
    const columns: readonly Column<Row>[] = [
      { title: 'WHAT', cell: () => 'credential rejected' },
      { title: 'OF', cell: () => 'a name of many words, which is much too long' },
      { title: 'SPENT', cell: () => '$1,234.56', alignRight: true },
      { title: 'AT (UTC)', cell: () => '2026-11-22 16:51' },
      { title: 'NEXT', cell: () => 'acg accounts rotate 01a200de-16d8-74de-8093-48e13086089c', toCopy: true },
    ];
    const { lines, leftOut } = formatTable(columns, [{ name: 'a', calls: '1' }], { width, faint: plain });
    expect(lines.filter((line) => stringWidth(line) > width)).toEqual([]);
    expect(lines[1]).toContain('$1,234.56');
    expect(lines[2]).toBe('  → acg accounts rotate 01a200de-16d8-74de-8093-48e13086089c');
    expect(leftOut).toEqual(width === 80 ? [] : ['AT (UTC)']);
  },
);
