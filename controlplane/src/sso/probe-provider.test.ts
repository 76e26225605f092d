import { expect, test } from 'vitest';
import { ALGORITHMS } from './jwk-set.js';
import { findUsableAlgorithms } from './probe-provider.js';

const RSA = { kty: 'RSA', n: 'n'.repeat(342), e: 'AQAB' };
const ellipticKey = (crv: string) => ({ kty: crv === 'Ed25519' ? 'OKP' : 'EC', crv, x: 'x', y: 'y' });
const RSA_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];

test.each<[string, readonly object[], readonly unknown[], readonly string[]]>([
  ['an RSA key', [RSA], ALGORITHMS, RSA_ALGORITHMS],
  ['an RSA key of one algorithm', [{ ...RSA, alg: 'PS256' }], ALGORITHMS, ['PS256']],
  ['a curve P-256', [ellipticKey('P-256')], ALGORITHMS, ['ES256']],
  ['a curve P-384', [ellipticKey('P-384')], ALGORITHMS, ['ES384']],
  ['a curve P-521', [ellipticKey('P-521')], ALGORITHMS, ['ES512']],
  ['a curve Ed25519', [ellipticKey('Ed25519')], ALGORITHMS, ['EdDSA', 'Ed25519']],
  ['keys of two kinds', [RSA, ellipticKey('P-256')], ['ES256', 'RS256'], ['RS256', 'ES256']],
  ['a provider that offers HMAC and none, too', [RSA], ['none', 'HS256', 'RS256'], ['RS256']],
  ['a provider that offers nothing for its key', [RSA], ['ES256', 7], []],
  ['no usable key', [{ kty: 'oct', k: 'k' }], ALGORITHMS, []],
])('usable algorithms: %s', (_name, keys, offered, usable) => {
  expect(findUsableAlgorithms({ keys }, offered)).toEqual(usable);
});

test('usable algorithms: a response that is no key set has none', () => {
  expect(findUsableAlgorithms('<html>', ALGORITHMS)).toEqual([]);
});
