import { expect, test } from 'vitest';
import { toCsv } from './csv.js';

test.each<[value: string | number | null, cell: string]>([
  [null, ''],
  [-1.5, '-1.5'],
  ['-1.5', "'-1.5"],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['=HYPERLINK("x")', '"\'=HYPERLINK(""x"")"'],
  ...['=1', '+1', '@A', '\t=1', '＝1', '＋1', '－1', '＠A'].map((text): [string, string] => [text, `'${text}`]),
  ...['\r=1', '\n=1'].map((text): [string, string] => [text, `"'${text}"`]),
])('the cell %j is %j', (value, cell) => {
  expect(toCsv(['a', 'b'], [[value, 'x']])).toBe(`a,b\r\n${cell},x\r\n`);
});
