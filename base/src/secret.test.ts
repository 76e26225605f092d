import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { Secret } from './secret.js';

test('secret: no way of printing shows the value; reveal() returns it', () => {
  const secret = new Secret('sk-0123456789');
  const printed = [String(secret), `${secret}`, JSON.stringify({ secret }), inspect({ secret }), inspect(secret)];
  for (const text of printed) expect(text).not.toContain('sk-0123456789');
  expect(secret.reveal()).toBe('sk-0123456789');
});
