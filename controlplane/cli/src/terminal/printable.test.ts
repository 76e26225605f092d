import { expect, test } from 'vitest';
import { toPrintable, toPrintableJson, toPrintableLines } from './printable.js';

test('what an agent calls a model cannot move the cursor, colour, or turn the line around', () => {
  expect(toPrintable('\u001b[2J\u009b31mgpt\n\u202eevil')).toBe('\\u001b[2J\\u009b31mgpt\\u000a\\u202eevil');
  expect(toPrintable('Größe – ✓')).toBe('Größe – ✓');
  expect(toPrintableLines('a\u001b[2J\nb')).toBe('a\\u001b[2J\nb');
});

test('JSON says the same to a parser, and nothing to a terminal', () => {
  const value = { path: 'a\u009b31mb\u202e\u001b' };
  expect(toPrintableJson(value)).not.toMatch(/[\u001b\u009b\u202e]/);
  expect(JSON.parse(toPrintableJson(value))).toEqual(value);
});
