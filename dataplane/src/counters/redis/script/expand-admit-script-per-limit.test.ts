import { LIMITS } from '@acg/base/limit-definitions';
import { expect, test } from 'vitest';
import { ADMIT_SCRIPT, expandScriptTemplate } from './expand-admit-script-per-limit.js';

const rows = [
  { algorithm: 'log', window: 'minute' },
  { algorithm: 'fixed', window: 'hour' },
  { algorithm: 'fixed', window: 'day' },
] as unknown as Parameters<typeof expandScriptTemplate>[1];

test('admission script: expands a marked section once for each row of its kind', () => {
  const template = 'a --[[each fixed]]+ x_I[INDEX] WINDOW --[[end]]b--[[each token]] t_I--[[end]]';
  expect(expandScriptTemplate(template, rows)).toBe('a + x_1[1] hour + x_2[2] day b');
});

test('admission script: contains no template mark after expansion', () => {
  expect(LIMITS.filter(({ algorithm: rowAlgorithm }) => rowAlgorithm === 'fixed')).not.toEqual([]);
  expect(ADMIT_SCRIPT.replace(/^--.*$/gm, '')).not.toMatch(/\beach \w+\]\]|\bINDEX\b|\bWINDOW\b|_I\b/);
});
