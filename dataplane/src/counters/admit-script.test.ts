import { LIMITS } from '@acg/base/limits';
import { expect, test } from 'vitest';
import { SCRIPT, writeOut } from './admit-script.js';

const rows = [
  { counted: 'log', window: 'minute' },
  { counted: 'fixed', window: 'hour' },
  { counted: 'fixed', window: 'day' },
] as unknown as Parameters<typeof writeOut>[1];

test('admission script: what stands between the marks is written for each row of that kind, and for no other', () => {
  const template = 'a --[[each fixed]]+ x_I[INDEX] WINDOW --[[end]]b--[[each token]] t_I--[[end]]';
  expect(writeOut(template, rows)).toBe('a + x_1[1] hour + x_2[2] day b');
});

test('admission script: no mark is left in what is sent', () => {
  expect(LIMITS.filter(({ counted }) => counted === 'fixed')).not.toEqual([]);
  expect(SCRIPT.replace(/^--.*$/gm, '')).not.toMatch(/\beach \w+\]\]|\bINDEX\b|\bWINDOW\b|_I\b/);
});
