import { expect, test } from 'vitest';
import { EnvReader } from './env-reader.js';

test('address ranges: a variable with something else in it is named at the start', () => {
  const read = new EnvReader({ GOOD: '10.0.0.0/8, ::1', BAD: '10.0.0.0/8,localhost' });
  expect(read.cidrs('GOOD')).toEqual(['10.0.0.0/8', '::1']);
  expect(() => read.throwIfInvalid()).not.toThrow();
  read.cidrs('BAD');
  expect(() => read.throwIfInvalid()).toThrow(/BAD must be CIDR ranges .* not localhost/);
});
