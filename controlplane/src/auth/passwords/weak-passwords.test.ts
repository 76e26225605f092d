import { expect, test } from 'vitest';
import { isWeakPassword } from './weak-passwords.js';

test.each([
  '1234567890',
  '0987654321',
  '12345678910',
  'password123',
  'Password2024!',
  'P@ssw0rd123',
  'passwordpassword',
  'qwertyuiop',
  'QWERTYUIOP123',
  '1q2w3e4r5t',
  '1qaz2wsx3edc',
  'aaaaaaaaaa',
  'abcabcabcabc',
  '1212121212',
  'iloveyou123',
  'administrator',
  'welcome1234',
  'letmein12345',
  'changeme2024',
  'football2023!!',
  'qwerty123456',
  'admin-admin',
  'welcomewelcome1',
  'superman1234',
  'a b c a b c a b c',
])('rejects the common password %s', (password) => {
  expect(isWeakPassword(password)).toBe(true);
});

test.each([
  'correct horse battery',
  'a password of some length',
  'a long password',
  'the first password',
  'my dog ate 3 qwertyuiops',
  'test-password-123',
  'user-password-1',
  'secret-password',
  'tr0ub4dor&3xyz',
  'zkdjfhgkqw',
  'gänseblümchen wiese',
  '日本語のパスワードです',
  'z7$kQm!x2@Lp',
])('accepts the password %s', (password) => {
  expect(isWeakPassword(password)).toBe(false);
});

test('checks a password of the maximum length without a noticeable delay', () => {
  expect(isWeakPassword('a1'.repeat(127) + 'zq')).toBe(false);
});
