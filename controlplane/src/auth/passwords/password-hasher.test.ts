import { expect, test } from 'vitest';
import { PasswordHasher } from './password-hasher.js';

const IP = '192.0.2.1';

test('passwords: argon2id with salt; only the same password verifies, composed or decomposed', async () => {
  const hasher = new PasswordHasher();
  const [one, two] = await Promise.all([hasher.hash('Zoë’s password', IP), hasher.hash('Zoë’s password', IP)]);
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(one).not.toBe(two);
  expect(await hasher.verify(one, 'Zoë’s password'.normalize('NFD'), IP)).toBe(true);
  expect(await hasher.verify(one, 'Zoe’s password', IP)).toBe(false);
});

test('passwords: no user, and a hash that is none, verify nothing', async () => {
  const hasher = new PasswordHasher();
  expect(await hasher.verify(null, '', IP)).toBe(false);
  expect(await hasher.verify(null, 'anything at all', IP)).toBe(false);
  expect(await hasher.verify('none', 'anything at all', IP)).toBe(false);
});

test('passwords: waiting is bounded; past it callers are told to come back; those who wait all finish', async () => {
  const hasher = new PasswordHasher();
  const outcomes = await Promise.allSettled(Array.from({ length: 1_010 }, () => hasher.verify('none', 'x', IP)));
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  // Two run and 1000 wait; the hasher's own decoy may still hold one of the two places.
  expect(refused.length).toBeGreaterThanOrEqual(8);
  expect(refused.length).toBeLessThanOrEqual(9);
  expect(refused[0]).toMatchObject({ reason: { code: 'too_many_attempts', retryAfterSeconds: 5 } });
  expect(await hasher.verify('none', 'x', IP)).toBe(false);
});
