import { randomBytes } from 'node:crypto';
import { Secret } from '@acg/base/secret';
import { expect, test } from 'vitest';
import { CannotDecrypt, type SealIdentity, Vault } from './vault.js';

const key = (id: string) => ({ id, key: new Secret(randomBytes(32)) });
const k1 = key('k1');
const k2 = key('k2');
const row: SealIdentity = { purpose: 'account', orgId: 'org-1', id: 'account-1' };

test('vault: what was sealed opens again, with any key of the ring', () => {
  const sealed = new Vault([k1]).seal(row, '{"apiKey":"sk-ü"}');
  expect(sealed.keyId).toBe('k1');
  expect(new Vault([k2, k1]).open(row, sealed)).toBe('{"apiKey":"sk-ü"}');
});

test('vault: the same text twice gives different nonces and ciphertexts', () => {
  const vault = new Vault([k1]);
  const seen = new Set<string>();
  for (let i = 0; i < 1_000; i++) seen.add(vault.seal(row, 'same').nonce.toString('hex'));
  expect(seen.size).toBe(1_000);
});

test.each<[string, Partial<SealIdentity>]>([
  ['another account', { id: 'account-2' }],
  ['another organization', { orgId: 'org-2' }],
  ['another table', { purpose: 'webhook' }],
])('vault: a ciphertext copied onto %s does not decrypt', (_where, change) => {
  const vault = new Vault([k1]);
  expect(() => vault.open({ ...row, ...change }, vault.seal(row, 'secret-text'))).toThrow(CannotDecrypt);
});

test('vault: one changed bit anywhere is refused, and no error shows the text', () => {
  const vault = new Vault([k1]);
  const sealed = vault.seal(row, 'secret-text');
  for (const field of ['nonce', 'ciphertext'] as const) {
    for (let at = 0; at < sealed[field].length; at++) {
      const changed = Buffer.from(sealed[field]);
      changed[at]! ^= 1;
      expect(() => vault.open(row, { ...sealed, [field]: changed })).toThrow(/wrong key, altered, or copied/);
    }
  }
  expect(() => vault.open(row, { ...sealed, ciphertext: sealed.ciphertext.subarray(0, 10) })).toThrow(/damaged/);
});

test('vault: a wrong key under the right id, or a missing key, is refused', () => {
  const sealed = new Vault([k1]).seal(row, 'secret-text');
  expect(() => new Vault([key('k1')]).open(row, sealed)).toThrow(CannotDecrypt);
  expect(() => new Vault([k2]).open(row, sealed)).toThrow(/MASTER_KEYS lacks it/);
});
