import { randomBytes } from 'node:crypto';
import { Secret } from '@acg/base/secret';
import { expect, test } from 'vitest';
import { DecryptionError, type SecretIdentity, Vault } from './aes-gcm-vault.js';

const key = (id: string) => ({ id, key: new Secret(randomBytes(32)) });
const k1 = key('k1');
const k2 = key('k2');
const row: SecretIdentity = { purpose: 'account', orgId: 'org-1', id: 'account-1' };

test('decrypts with any key of the ring', () => {
  const sealed = new Vault([k1]).encrypt(row, '{"apiKey":"sk-ü"}');
  expect(sealed.keyId).toBe('k1');
  expect(new Vault([k2, k1]).decrypt(row, sealed)).toBe('{"apiKey":"sk-ü"}');
});

test('encrypts the same text with different nonces', () => {
  const vault = new Vault([k1]);
  const seen = new Set<string>();
  for (let i = 0; i < 1_000; i++) seen.add(vault.encrypt(row, 'same').nonce.toString('hex'));
  expect(seen.size).toBe(1_000);
});

test.each<[string, Partial<SecretIdentity>]>([
  ['another account', { id: 'account-2' }],
  ['another organization', { orgId: 'org-2' }],
  ['another table', { purpose: 'webhook' }],
])('rejects a ciphertext copied to %s', (_where, change) => {
  const vault = new Vault([k1]);
  expect(() => vault.decrypt({ ...row, ...change }, vault.encrypt(row, 'secret-text'))).toThrow(DecryptionError);
});

test('rejects every single changed bit and shows no plaintext in errors', () => {
  const vault = new Vault([k1]);
  const sealed = vault.encrypt(row, 'secret-text');
  for (const field of ['nonce', 'ciphertext'] as const) {
    for (let at = 0; at < sealed[field].length; at++) {
      const changed = Buffer.from(sealed[field]);
      changed[at]! ^= 1;
      expect(() => vault.decrypt(row, { ...sealed, [field]: changed })).toThrow(/wrong key, altered, or copied/);
    }
  }
  expect(() => vault.decrypt(row, { ...sealed, ciphertext: sealed.ciphertext.subarray(0, 10) })).toThrow(/damaged/);
});

test('derives one key for each purpose and master key', () => {
  const keys = [k1, k1, k2].map((master) => new Vault([master]).deriveKey('a'));
  expect(keys[0]).toMatch(/^[\w-]{43}$/);
  expect(keys[1]).toBe(keys[0]);
  expect(new Set([...keys, new Vault([k1]).deriveKey('b')]).size).toBe(3);
});

test('rejects a wrong key under the same id and a missing key', () => {
  const sealed = new Vault([k1]).encrypt(row, 'secret-text');
  expect(() => new Vault([key('k1')]).decrypt(row, sealed)).toThrow(DecryptionError);
  expect(() => new Vault([k2]).decrypt(row, sealed)).toThrow(/MASTER_KEYS lacks it/);
});
