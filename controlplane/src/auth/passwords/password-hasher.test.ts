import { expect, test } from 'vitest';
import { PasswordHasher } from './password-hasher.js';

const IP = '192.0.2.1';

test('hashes with salted argon2id and verifies only the same password, composed or decomposed', async () => {
  const hasher = new PasswordHasher();
  const [one, two] = await Promise.all([
    hasher.assertStrongAndHash('Zoë’s password', IP),
    hasher.assertStrongAndHash('Zoë’s password', IP),
  ]);
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(one).not.toBe(two);
  expect(await hasher.verify(one, 'Zoë’s password'.normalize('NFD'), IP)).toBe(true);
  expect(await hasher.verify(one, 'Zoe’s password', IP)).toBe(false);
});

test('rejects every password for an unknown user and for an invalid hash', async () => {
  const hasher = new PasswordHasher();
  expect(await hasher.verify(null, '', IP)).toBe(false);
  expect(await hasher.verify(null, 'anything at all', IP)).toBe(false);
  expect(await hasher.verify('none', 'anything at all', IP)).toBe(false);
});

test('rejects callers with a retry delay when the queue is full and serves all that are queued', async () => {
  const hasher = new PasswordHasher();
  const outcomes = await Promise.allSettled(Array.from({ length: 1_010 }, () => hasher.verify('none', 'x', IP)));
  const rejected = outcomes.filter((outcome) => outcome.status === 'rejected');
  // Two run and 1000 wait; the hasher's own decoy hash may still occupy one of the two slots.
  expect(rejected.length).toBeGreaterThanOrEqual(8);
  expect(rejected.length).toBeLessThanOrEqual(9);
  expect(rejected[0]).toMatchObject({ reason: { code: 'too_many_attempts', retryAfterSeconds: 5 } });
  expect(await hasher.verify('none', 'x', IP)).toBe(false);
});
