import { setFlagsFromString } from 'node:v8';
import { expect, test } from 'vitest';
import { restoreFastProperties } from './restore-fast-properties.js';

test('methods of strings are quick again after somebody has made a class of String', () => {
  setFlagsFromString('--allow-natives-syntax');
  const areQuick = new Function('return %HasFastProperties(String.prototype)') as () => boolean;
  const makeClass = () => class extends String {};
  makeClass();
  expect(areQuick()).toBe(false);
  restoreFastProperties();
  expect(areQuick()).toBe(true);
});

test.each(['Buffer', 'performance', 'process'] as const)('%s is a plain property, and the same', (name) => {
  const before = globalThis[name];
  restoreFastProperties();
  expect(Object.getOwnPropertyDescriptor(globalThis, name)).toMatchObject({ value: before, writable: true });
});
