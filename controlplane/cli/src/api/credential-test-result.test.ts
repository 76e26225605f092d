import { expect, test } from 'vitest';
import { assertCredentialAccepted, formatCredentialTest } from './credential-test-result.js';

const call = 'GET https://api.acme.example.com/me';
const accepted = { ok: true, call, status: 200, latencyMs: 12, hint: null };

test.each([
  [accepted, `✓ acme: ${call} → 200 in 12 ms`, null],
  [
    { ...accepted, ok: false, status: 401, hint: 'The provider rejects this credential.' },
    `✗ acme: ${call} → 401 in 12 ms. The provider rejects this credential.`,
    'the key of acme was rejected by the provider',
  ],
  [
    { ...accepted, ok: false, status: null, hint: 'The provider could not be reached in time.' },
    `? acme: ${call} → no answer in 12 ms. The provider could not be reached in time.`,
    'the key of acme was not tested',
  ],
  [
    { ...accepted, ok: false, status: 503, hint: 'The provider returned a server error.' },
    `? acme: ${call} → 503 in 12 ms. The provider returned a server error.`,
    'the key of acme was not tested',
  ],
  [
    { ok: false, call: null, status: null, latencyMs: 0, hint: 'Not tested: each call is billed.' },
    '? acme: Not tested: each call is billed.',
    'the key of acme was not tested',
  ],
])('credential test: %j', (result, line, error) => {
  expect(formatCredentialTest('acme', result)).toBe(line);
  const check = () => assertCredentialAccepted('acme', result);
  if (error === null) check();
  else expect(check).toThrow(error);
});
