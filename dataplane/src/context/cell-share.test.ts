import { NO_CELL } from '@acg/base/cells';
import { expect, test } from 'vitest';
import { LIMIT_TABLE } from '../limits/limit-table.js';
import { applyCellShare } from './cell-share.js';

const limit = (type: string, scope: string) => {
  const row = LIMIT_TABLE.find((one) => one.type === type && one.scope === scope)!;
  return { type, scope, window: row.window, unit: row.unit };
};
const sharedValue = (sharePercent: number, type: string, scope: string, message = {}) =>
  applyCellShare(message, { name: '', sharePercent }).limits?.find((one) => one.type === type && one.scope === scope)
    ?.value;

test('rates get their share, rounded down and at least 1; budgets stay whole', () => {
  const message = {
    limits: [
      { ...limit('rpm', 'agent_provider'), value: 99 },
      { ...limit('tpm', 'agent_provider'), value: 1 },
      { ...limit('budget', 'agent'), value: 500 },
    ],
  };
  expect(sharedValue(50, 'rpm', 'agent_provider', message)).toBe(49);
  expect(sharedValue(50, 'tpm', 'agent_provider', message)).toBe(1);
  expect(sharedValue(50, 'budget', 'agent', message)).toBe(500);
  expect(applyCellShare(message, NO_CELL)).toBe(message);
});

test('a default and a field of older control planes are shared as well; an unset limit without a default stays unset', () => {
  const { default: fallback } = LIMIT_TABLE.find(({ type }) => type === 'rpm')!;
  expect(sharedValue(50, 'rpm', 'agent_provider')).toBe(Math.floor(fallback! / 2));
  expect(sharedValue(50, 'rpm', 'agent_provider', { rpmLimit: 30 })).toBe(15);
  expect(sharedValue(50, 'tpm', 'agent_provider')).toBeUndefined();
});

test('limits of tools get their share as well, at each origin of the provider; other policies stay', () => {
  const policy = {
    closed: false,
    tools: { deny: ['drop'] },
    toolLimits: [
      { tool: 'send', rpm: 11 },
      { tool: '*', rpm: 1 },
    ],
  };
  const upstreams = [{ providerSlug: 'mail', policy }, { providerSlug: 'openai' }];
  const shared = applyCellShare({ upstreams, namedOrigins: [{ policy }] }, { name: '', sharePercent: 50 });
  const half = { ...policy, toolLimits: [{ tool: 'send', rpm: 5 }, policy.toolLimits[1]] };
  expect(shared.upstreams).toEqual([{ providerSlug: 'mail', policy: half }, { providerSlug: 'openai' }]);
  expect(shared.namedOrigins).toEqual([{ policy: half }]);
});

test('the shares of any cells that add up to the whole never grant more than the limit', () => {
  for (const percents of [
    [50, 50],
    [70, 30],
    [34, 33, 33],
    [99, 1],
  ])
    for (const value of [100, 101, 999, 12_345]) {
      const message = { limits: [{ ...limit('rpm', 'agent_provider'), value }] };
      const sum = percents.reduce((all, percent) => all + sharedValue(percent, 'rpm', 'agent_provider', message)!, 0);
      expect(sum).toBeLessThanOrEqual(value);
    }
});
