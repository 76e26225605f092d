import { expect, test } from 'vitest';
import { barInterval } from './bar-interval.js';

test('shows hours for up to two days, and days from then on', () => {
  expect(barInterval({ period: '24h' })).toBe('hour');
  expect(barInterval({ period: '7d' })).toBe('day');
  expect(barInterval({ start: '2026-10-01', end: '2026-10-01' })).toBe('hour');
  expect(barInterval({ start: '2026-10-01', end: '2026-10-02' })).toBe('hour');
  expect(barInterval({ start: '2026-10-01', end: '2026-10-03' })).toBe('day');
});
