import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { decodeContext } from './decode-context.js';
import { type ContextEntry, InvalidationIndex } from './invalidation-index.js';
import type { Invalidation } from './invalidation-matching-and-history.js';
import { createContextMessage } from './testing/context-message-fixture.js';

const context = decodeContext(createContextMessage());
const entry = (cacheKey: string): ContextEntry => ({
  cacheKey,
  context,
  rejection: null,
  revision: 1,
  bytes: 10,
  resolvedAtMs: 0,
  refreshAtMs: 0,
  older: null,
  newer: null,
});

test.each([
  ['key', 'key-1'],
  ['agent', 'agent-1'],
  ['project', 'project-1'],
  ['org', 'org-1'],
  ['provider', 'org-1/openai'],
  ['account', 'agent-1/account-1'],
] as const)('index: a %s finds cached entries and no removed ones', (kind, id) => {
  const index = new InvalidationIndex();
  const [left, stays] = [entry('left'), entry('stays')];
  const named = (): readonly string[] => {
    const invalidation: Invalidation = { revision: 2, kind, id, endsSessions: false };
    return index.findAffected(invalidation).map(({ cacheKey }) => cacheKey);
  };
  index.add(left);
  index.add(stays);
  expect(named()).toEqual(['left', 'stays']);
  index.remove(left);
  expect(named()).toEqual(['stays']);
  index.remove(stays);
  expect(named()).toEqual([]);
});

test('index: reports the usage and the oldest entry of an organization', () => {
  const index = new InvalidationIndex();
  const [first, second, third] = [entry('first'), entry('second'), entry('third')];
  for (const one of [first, second, third]) index.add(one);
  expect([index.orgUsage('org-1'), index.organizationCount]).toEqual([{ entries: 3, bytes: 30 }, 1]);
  index.remove(second);
  index.remove(second);
  expect(index.orgUsage('org-1')).toEqual({ entries: 2, bytes: 20 });
  expect(index.oldestOf('org-1')).toBe(first);
  index.remove(first);
  index.add(first); // resolved again
  expect(index.oldestOf('org-1')).toBe(third);
  index.remove(third);
  expect(index.oldestOf('org-1')).toBe(first);
  index.remove(first);
  expect([index.orgUsage('org-1'), index.organizationCount, index.oldestOf('org-1')]).toEqual([
    { entries: 0, bytes: 0 },
    0,
    null,
  ]);
  index.add(second);
  expect([index.orgUsage('org-1').entries, index.oldestOf('org-1')]).toEqual([1, second]);
});

test('index: keeps no reference to replaced entries', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const index = new InvalidationIndex();
  const added: WeakRef<ContextEntry>[] = [];
  const add = (): ContextEntry => {
    const one = entry('one');
    index.add(one);
    added.push(new WeakRef(one));
    return one;
  };
  const living = (): number => added.filter((one) => one.deref() !== undefined).length;
  (() => {
    const replaced = [add(), add(), add()];
    for (let i = 0; i < 100; i++) {
      replaced.push(add());
      index.remove(replaced.shift()!);
    }
  })();
  for (let turn = 0; turn < 100 && living() > 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  expect([living(), index.orgUsage('org-1').entries]).toEqual([3, 3]);
});
