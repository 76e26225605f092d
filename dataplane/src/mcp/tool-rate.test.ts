import { expect, test } from 'vitest';
import { findToolRate } from './tool-rate.js';

const policyOf = (toolLimits?: { tool: string; rpm: number }[]) => ({
  closed: false,
  calls: null,
  models: null,
  ...(toolLimits === undefined ? {} : { toolLimits }),
});

test('tool rate: the first entry that matches counts, in any spelling that a server may take for the tool', () => {
  const policy = policyOf([
    { tool: 'Delete_issue', rpm: 1 },
    { tool: 'delete_*', rpm: 2 },
    { tool: '*', rpm: 3 },
  ]);
  expect(findToolRate(policy, 'delete_issue')).toEqual({ pattern: 'Delete_issue', rpm: 1 });
  expect(findToolRate(policy, 'DELETE_issue')).toEqual({ pattern: 'Delete_issue', rpm: 1 });
  expect(findToolRate(policy, '\uff24elete_all')).toEqual({ pattern: 'delete_*', rpm: 2 });
  expect(findToolRate(policy, 'read')).toEqual({ pattern: '*', rpm: 3 });
  expect(findToolRate(policy, '')).toBeNull();
});

test('tool rate: none without an entry that matches', () => {
  expect(findToolRate(null, 'read')).toBeNull();
  expect(findToolRate(policyOf(), 'read')).toBeNull();
  expect(findToolRate(policyOf([{ tool: 'read_*', rpm: 1 }]), 'read')).toBeNull();
});
