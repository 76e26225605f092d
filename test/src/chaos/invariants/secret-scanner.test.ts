import { expect, test } from 'vitest';
import { SecretScanner } from './secret-scanner.js';

const SECRET = 'sk-0123456789';
const watch = (): SecretScanner => new SecretScanner({ key: SECRET });

test('secrets: none is none', () => {
  const one = watch();
  one.scan('log', 'all is well');
  expect(one.leaks).toEqual([]);
  expect(one.chars).toBe(11);
});

test.each([
  ['in one piece', [`x${SECRET}y`]],
  ['across the border of two pieces', [`x${SECRET.slice(0, 5)}`, `${SECRET.slice(5)}y`]],
  ['a character a piece', [...SECRET]],
  ['in base64', [Buffer.from(SECRET).toString('base64')]],
])('secrets: one is found %s, and named without its value', (_name, pieces) => {
  const one = watch();
  for (const piece of pieces) one.scan('log', piece);
  expect(one.leaks).toEqual([expect.stringMatching(/^key.* in log$/)]);
  expect(one.leaks[0]).not.toContain(SECRET);
});

test('secrets: pieces of two sources are not put together', () => {
  const one = watch();
  one.scan('log', SECRET.slice(0, 5));
  one.scan('answer', SECRET.slice(5));
  expect(one.leaks).toEqual([]);
});
