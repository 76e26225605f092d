// @isolated: restored properties stay fast for the rest of the process.
import { setFlagsFromString } from 'node:v8';
import { expect, test } from 'vitest';
import { restoreFastProperties } from './restore-fast-strings-and-globals.js';

test('restores fast properties of String.prototype after a class extends String', () => {
  setFlagsFromString('--allow-natives-syntax');
  const areFast = new Function('return %HasFastProperties(String.prototype)') as () => boolean;
  const makeClass = () => class extends String {};
  makeClass();
  expect(areFast()).toBe(false);
  restoreFastProperties();
  expect(areFast()).toBe(true);
});

test.each(['Buffer', 'performance', 'process'] as const)('makes %s a plain property with the same value', (name) => {
  const before = globalThis[name];
  restoreFastProperties();
  expect(Object.getOwnPropertyDescriptor(globalThis, name)).toMatchObject({ value: before, writable: true });
});
