import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRecoveryCodes, hashRecoveryCode, RECOVERY_CODES } from './recovery-code.js';
import {
  buildOtpauthUrl,
  computeTotpCode,
  encodeBase32,
  findTotpStep,
  isTotpCode,
  TOTP_SECRET_BYTES,
  totpStepAt,
} from './totp.js';

/** RFC 6238, appendix B: the secret for SHA-1; its 8 digits end in these 6. */
const SECRET = Buffer.from('12345678901234567890');

test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('RFC 6238: at %d s the code is %s', (seconds, code) => {
  expect(computeTotpCode(SECRET, totpStepAt(seconds * 1000))).toBe(code);
});

test('a code counts in its step, the one before and the one after, and in no other', () => {
  const step = 41_152_263;
  const code = computeTotpCode(SECRET, step);
  const accepted = [-2, -1, 0, 1, 2].map((off) => findTotpStep(SECRET, code, (step + off) * 30_000, -1));
  expect(accepted).toEqual([null, step, step, step, null]);
  expect(totpStepAt(step * 30_000 - 1)).toBe(step - 1);
});

test('a code of a step that was used, or of an earlier one, is rejected', () => {
  const step = 41_152_263;
  const codeAt = (off: number) => computeTotpCode(SECRET, step + off);
  expect(findTotpStep(SECRET, codeAt(0), step * 30_000, step)).toBeNull();
  expect(findTotpStep(SECRET, codeAt(-1), step * 30_000, step)).toBeNull();
  expect(findTotpStep(SECRET, codeAt(1), step * 30_000, step)).toBe(step + 1);
  expect(findTotpStep(SECRET, codeAt(0), step * 30_000, step - 1)).toBe(step);
});

test('only six digits are a code', () => {
  expect(['123456', '012345'].every(isTotpCode)).toBe(true);
  expect(['12345', '1234567', '12345a', ' 123456', '123456\n', '１２３４５６'].some(isTotpCode)).toBe(false);
});

/** RFC 4648 §10 without padding. */
test.each([
  ['', ''],
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foo', 'MZXW6'],
  ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'],
  ['foobar', 'MZXW6YTBOI'],
])('base32 of %j is %j', (text, base32) => {
  expect(encodeBase32(Buffer.from(text))).toBe(base32);
});

test('base32 keeps every bit', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const digits = [...encodeBase32(Buffer.from(bytes))].map((char) =>
        'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(char),
      );
      const bits = digits.map((digit) => digit.toString(2).padStart(5, '0')).join('');
      const decoded = Array.from(bytes, (_, n) => Number.parseInt(bits.slice(n * 8, n * 8 + 8), 2));
      expect(decoded).toEqual([...bytes]);
    }),
  );
});

test('a secret has 160 bits (RFC 4226 §4), which are 32 characters without padding', () => {
  expect(encodeBase32(Buffer.alloc(TOTP_SECRET_BYTES, 0xff))).toBe('7'.repeat(32));
});

test('the address for authenticator apps escapes its parts', () => {
  const url = buildOtpauthUrl('A & B', 'a+b@example.com', SECRET);
  expect(url).toBe(
    'otpauth://totp/A%20%26%20B:a%2Bb%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=A%20%26%20B',
  );
});

test('recovery codes: ten different ones, whose hash ignores case, spaces and hyphens', () => {
  const codes = createRecoveryCodes();
  expect(codes).toHaveLength(RECOVERY_CODES);
  expect(new Set(codes.map((code) => hashRecoveryCode(code)!.toString('hex'))).size).toBe(10);
  for (const code of codes) {
    expect(code).toMatch(/^[A-Z2-7]{4}(-[A-Z2-7]{4}){3}$/);
    expect(hashRecoveryCode(` ${code.toLowerCase().replaceAll('-', ' ')} `)).toEqual(hashRecoveryCode(code));
  }
  expect(hashRecoveryCode(codes[0]!)).toHaveLength(32);
});

test('what has not the form of a recovery code has no hash', () => {
  for (const text of [
    '123456',
    'ABCD-EFGH-IJKL-MNO',
    'ABCD-EFGH-IJKL-MNOPQ',
    'ABCD-EFGH-IJKL-MNO1',
    'ABCD_EFGH_IJKL_MNOP',
  ])
    expect(hashRecoveryCode(text)).toBeNull();
});
