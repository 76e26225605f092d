import { Secret } from '@acg/base/secret';
import { expect, test } from 'vitest';
import { createSigningSecret, signBody } from './webhook-signature.js';

test('sign: the known answer of HMAC-SHA256, keyed with the whole secret string', () => {
  // printf '%s' '{"a":"ü"}' | openssl dgst -sha256 -hmac whsec_0123
  expect(signBody(new Secret('whsec_0123'), '{"a":"ü"}')).toBe(
    '14b02a7640f96f68b06d88d0c302efad72c76bf8097d12e6d92ded090cd90f0b',
  );
});

test('sign: secrets have the prefix, 256 random bits, and never print', () => {
  const secret = createSigningSecret();
  expect(secret.reveal()).toMatch(/^whsec_[0-9a-f]{64}$/);
  expect(createSigningSecret().reveal()).not.toBe(secret.reveal());
  expect(`${secret} ${JSON.stringify({ secret })}`).not.toContain('whsec_');
});
