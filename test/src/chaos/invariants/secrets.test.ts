import { expect, test } from 'vitest';
import { SecretWatch } from './secrets.js';

const SECRET = 'sk-0123456789';
const watch = (): SecretWatch => new SecretWatch({ key: SECRET });

test('secrets: none is none', () => {
  const one = watch();
  one.look('log', 'all is well');
  expect(one.broken).toEqual([]);
  expect(one.chars).toBe(11);
});

test.each([
  ['in one piece', [`x${SECRET}y`]],
  ['across the border of two pieces', [`x${SECRET.slice(0, 5)}`, `${SECRET.slice(5)}y`]],
  ['a character a piece', [...SECRET]],
  ['in base64', [Buffer.from(SECRET).toString('base64')]],
])('secrets: one is found %s, and named without its value', (_name, pieces) => {
  const one = watch();
  for (const piece of pieces) one.look('log', piece);
  expect(one.broken).toEqual([expect.stringMatching(/^key.* in log$/)]);
  expect(one.broken[0]).not.toContain(SECRET);
});

test('secrets: pieces of two sources are not put together', () => {
  const one = watch();
  one.look('log', SECRET.slice(0, 5));
  one.look('answer', SECRET.slice(5));
  expect(one.broken).toEqual([]);
});
