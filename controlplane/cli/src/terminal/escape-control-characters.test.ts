import { expect, test } from 'vitest';
import {
  escapeControlCharacters,
  escapeControlCharactersInLines,
  toJsonWithoutControlCharacters,
} from './escape-control-characters.js';

test('what an agent calls a model cannot move the cursor, colour, or turn the line around', () => {
  expect(escapeControlCharacters('\u001b[2J\u009b31mgpt\n\u202eevil')).toBe(
    '\\u001b[2J\\u009b31mgpt\\u000a\\u202eevil',
  );
  expect(escapeControlCharacters('Größe – ✓')).toBe('Größe – ✓');
  expect(escapeControlCharactersInLines('a\u001b[2J\nb')).toBe('a\\u001b[2J\nb');
});

test('JSON says the same to a parser, and nothing to a terminal', () => {
  const value = { path: 'a\u009b31mb\u202e\u001b' };
  expect(toJsonWithoutControlCharacters(value)).not.toMatch(/[\u001b\u009b\u202e]/);
  expect(JSON.parse(toJsonWithoutControlCharacters(value))).toEqual(value);
});
