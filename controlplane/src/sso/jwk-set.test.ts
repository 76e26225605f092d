import { expect, test } from 'vitest';
import { ALGORITHMS, parseServedKeys, parseUploadedKeys } from './jwk-set.js';

const RSA = { kty: 'RSA', n: 'n'.repeat(342), e: 'AQAB' };
const EC = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' };
const OKP = { kty: 'OKP', crv: 'Ed25519', x: 'x' };

test.each<[string, object, object]>([
  ['RSA of 2048 bits', RSA, RSA],
  ['RSA of 8192 bits', { ...RSA, n: 'n'.repeat(1_366) }, { ...RSA, n: 'n'.repeat(1_366) }],
  ['a short exponent', { ...RSA, e: 'A' }, { ...RSA, e: 'A' }],
  ['an exponent of 32 bits', { ...RSA, e: 'A'.repeat(6) }, { ...RSA, e: 'A'.repeat(6) }],
  ...['P-256', 'P-384', 'P-521'].map((crv): [string, object, object] => [crv, { ...EC, crv }, { ...EC, crv }]),
  [
    'long coordinates',
    { ...EC, x: 'x'.repeat(100), y: 'y'.repeat(100) },
    { ...EC, x: 'x'.repeat(100), y: 'y'.repeat(100) },
  ],
  ['Ed25519', OKP, OKP],
  ['Ed25519 without the coordinate y, which it has not', { ...OKP, y: 'y' }, OKP],
  ['a long key id', { ...RSA, kid: 'k'.repeat(512) }, { ...RSA, kid: 'k'.repeat(512) }],
  ...ALGORITHMS.map((alg): [string, object, object] => [alg, { ...RSA, alg }, { ...RSA, alg }]),
  ['use for signatures, and other members', { ...RSA, use: 'sig', key_ops: ['verify'] }, RSA],
  ['use for workload identities', { ...EC, use: 'jwt-svid' }, EC],
])('accepts %s, and keeps what verification reads', (_name, key, kept) => {
  expect(parseUploadedKeys({ keys: [key] })).toEqual({ keys: [kept] });
  expect(parseServedKeys({ keys: [key] })).toEqual({ keys: [kept] });
});

test.each<[string, object, string]>([
  ['a short modulus', { ...RSA, n: 'n'.repeat(341) }, 'modulus'],
  ['a long modulus', { ...RSA, n: 'n'.repeat(1_367) }, 'modulus'],
  ['a modulus that is not base64url', { ...RSA, n: '+'.repeat(342) }, 'modulus'],
  ['a modulus that is no text', { ...RSA, n: Array(342).fill('n') }, 'modulus'],
  ['no modulus', { ...RSA, n: undefined }, 'modulus'],
  ['a long exponent', { ...RSA, e: 'A'.repeat(7) }, 'exponent'],
  ['an empty exponent', { ...RSA, e: '' }, 'exponent'],
  ['a long key id', { ...RSA, kid: 'k'.repeat(513) }, 'kid'],
  ['a key id that is no text', { ...RSA, kid: 7 }, 'kid'],
  ['HMAC', { ...RSA, alg: 'HS256' }, 'alg'],
  ['alg none', { ...RSA, alg: 'none' }, 'alg'],
  ['encryption', { ...RSA, use: 'enc' }, 'use'],
  ['no type', {}, 'kty'],
  ['a type that is no text', { ...EC, kty: 7 }, 'kty'],
  ['a type that every object has as a member', { ...EC, kty: 'constructor' }, 'kty'],
  ['a curve of another type', { ...EC, crv: 'Ed25519' }, 'crv P-256, P-384, P-521'],
  ['no curve', { ...OKP, crv: undefined }, 'crv Ed25519'],
  ['an empty coordinate', { ...EC, x: '' }, 'coordinate x'],
  ['a long coordinate', { ...OKP, x: 'x'.repeat(101) }, 'coordinate x'],
  ['no second coordinate', { ...EC, y: undefined }, 'coordinate y'],
  ['an empty second coordinate', { ...EC, y: '' }, 'coordinate y'],
  ['a long second coordinate', { ...EC, y: 'y'.repeat(101) }, 'coordinate y'],
  ['the private part', { ...RSA, d: 'd' }, 'private or symmetric'],
  ['a secret', { ...EC, k: 'k' }, 'private or symmetric'],
  ['the type of a secret', { kty: 'oct' }, 'private or symmetric'],
])('rejects a key with %s by its place, and leaves it out of a served set', (_name, key, text) => {
  const problem = parseUploadedKeys({ keys: [RSA, key] });
  expect(problem).toEqual(expect.stringMatching(/^jwks\.keys\[1\] /));
  expect(problem).toContain(text);
  expect(parseServedKeys({ keys: [key, EC] })).toEqual({ keys: [EC] });
  expect(() => parseServedKeys({ keys: [key] })).toThrow('no usable key');
});

test('a set has 1 to 50 keys, in their order', () => {
  expect(parseUploadedKeys({ keys: [RSA, EC, OKP] })).toEqual({ keys: [RSA, EC, OKP] });
  expect(parseUploadedKeys({ keys: Array(50).fill(RSA) })).toEqual({ keys: Array(50).fill(RSA) });
  for (const [value, text] of [
    [{ keys: Array(51).fill(RSA) }, 'at most 50'],
    [null, 'a list keys'],
    [undefined, 'a list keys'],
    [{}, 'a list keys'],
    [{ keys: {} }, 'a list keys'],
    [{ keys: [RSA, null] }, 'objects'],
    [{ keys: [RSA, 'key'] }, 'objects'],
    [{ keys: [] }, 'no key'],
  ] as const) {
    expect(parseUploadedKeys(value)).toContain(text);
    expect(() => parseServedKeys(value)).toThrow(text === 'no key' ? 'no usable key' : text);
  }
});

test('X.509 keys of a SPIFFE bundle sign no tokens: an uploaded set may have them', () => {
  const x509 = { ...EC, use: 'x509-svid' };
  expect(parseUploadedKeys({ keys: [x509, EC] })).toEqual({ keys: [EC] });
  expect(parseUploadedKeys({ keys: [x509] })).toContain('no key that signs tokens');
  expect(parseServedKeys({ keys: [x509, EC] })).toEqual({ keys: [EC] });
});
