import { expect, test } from 'vitest';
import { SecretScanner } from './secret-scanner.js';

const SECRET = 'sk-0123456789';
const watch = (): SecretScanner => new SecretScanner({ key: SECRET });

test('secret scanner: finds nothing in a text without secrets', () => {
  const one = watch();
  one.scan('log', 'all is well');
  expect(one.leaks).toEqual([]);
  expect(one.chars).toBe(11);
});

test.each([
  ['in one chunk', [`x${SECRET}y`]],
  ['across the border of two chunks', [`x${SECRET.slice(0, 5)}`, `${SECRET.slice(5)}y`]],
  ['with one character per chunk', [...SECRET]],
  ['in base64', [Buffer.from(SECRET).toString('base64')]],
])('secret scanner: finds a secret %s and names it without its value', (_name, bodyChunks) => {
  const one = watch();
  for (const piece of bodyChunks) one.scan('log', piece);
  expect(one.leaks).toEqual([expect.stringMatching(/^key.* in log$/)]);
  expect(one.leaks[0]).not.toContain(SECRET);
});

test('secret scanner: does not join chunks of two sources', () => {
  const one = watch();
  one.scan('log', SECRET.slice(0, 5));
  one.scan('answer', SECRET.slice(5));
  expect(one.leaks).toEqual([]);
});
