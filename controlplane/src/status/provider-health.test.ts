import { expect, test } from 'vitest';
import { type OrgCountByState, overallHealth, providerHealth } from './provider-health.js';

const count = (OPEN: number, HALF_OPEN: number, CLOSED: number): OrgCountByState => ({ OPEN, HALF_OPEN, CLOSED });
const none = count(0, 0, 0);

test.each([
  ['nobody uses it', none, 'CLOSED'],
  ['the only organization', count(1, 0, 0), 'OPEN'],
  ['the only one tries again', count(0, 1, 0), 'HALF_OPEN'],
  ['one of two: it may be that one’s own doing', count(1, 0, 1), 'HALF_OPEN'],
  ['both of two', count(2, 0, 0), 'OPEN'],
  ['fewer than half', count(3, 1, 5), 'CLOSED'],
  ['half are open', count(4, 0, 4), 'OPEN'],
  ['half are open or half-open', count(1, 3, 4), 'HALF_OPEN'],
  ['most try again', count(2, 3, 1), 'HALF_OPEN'],
])('status: %s', (_name, organizations, state) => {
  expect(providerHealth('s3', 'S3', organizations, 'CLOSED').state).toBe(state);
});

test('status: where no data plane can connect, it is an outage whatever organizations saw last', () => {
  expect(providerHealth('openai', 'OpenAI', count(0, 0, 9), 'OPEN')).toMatchObject({ state: 'OPEN', status: 'outage' });
});

test('status: the whole is as bad as its worst part', () => {
  const fine = providerHealth('a', 'A', none, 'CLOSED');
  const open = providerHealth('s3', 'S3', count(1, 0, 0), 'CLOSED');
  const half = providerHealth('s3', 'S3', count(0, 1, 0), 'CLOSED');
  expect(overallHealth([])).toBe('operational');
  expect(overallHealth([fine, half])).toBe('degraded');
  expect(overallHealth([half, open, fine])).toBe('outage');
});
