import { expect, test } from 'vitest';
import { countsAsAbuse, REJECTION_ADVICE, rejectionAdvice } from './rejection-reasons.js';

test('rejections: exactly those that the gateway or the provider caused do not count as abuse', () => {
  expect(Object.keys(REJECTION_ADVICE).filter((reason) => !countsAsAbuse(reason))).toEqual([
    'needs_credentials',
    'credential_refreshing',
    'overload',
    'stopping',
    'contexts_unavailable',
    'limits_unavailable',
    'spool_full',
    'circuit_open',
    'egress_refused',
    'upstream_unreachable',
    'upstream_timeout',
    'internal',
  ]);
});

test('rejections: a reason of another release counts as abuse and has advice', () => {
  for (const reason of ['of_the_next_release', 'constructor']) {
    expect(countsAsAbuse(reason)).toBe(true);
    expect(rejectionAdvice(reason).cause).toContain(reason.replaceAll('_', ' '));
  }
});
