import { setFlagsFromString } from 'node:v8';
import { expect, test } from 'vitest';
import { quickenStringMethods } from './string-methods.js';

test('methods of strings are quick again after somebody has made a class of String', () => {
  setFlagsFromString('--allow-natives-syntax');
  const areQuick = new Function('return %HasFastProperties(String.prototype)') as () => boolean;
  const makeClass = () => class extends String {};
  makeClass();
  expect(areQuick()).toBe(false);
  quickenStringMethods();
  expect(areQuick()).toBe(true);
});
