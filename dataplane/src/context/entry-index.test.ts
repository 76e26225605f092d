import { expect, test } from 'vitest';
import { contextMessage } from './context-fixture.js';
import { decodeContext } from './decode.js';
import { type ContextEntry, EntryIndex } from './entry-index.js';
import type { Invalidation } from './invalidation.js';

const context = decodeContext(contextMessage());
const entry = (cacheKey: string): ContextEntry => ({
  cacheKey,
  context,
  refusal: null,
  revision: 1,
  resolvedAtMs: 0,
  refreshAtMs: 0,
});

test.each([
  ['key', 'key-1'],
  ['agent', 'agent-1'],
  ['project', 'project-1'],
  ['org', 'org-1'],
  ['provider', 'org-1/openai'],
  ['account', 'agent-1/account-1'],
] as const)('index: a %s names what is in the cache, and nothing that has left it', (kind, id) => {
  const index = new EntryIndex();
  const [left, stays] = [entry('left'), entry('stays')];
  const named = (): readonly string[] => {
    const invalidation: Invalidation = { revision: 2, kind, id, endsSessions: false };
    return index.touchedBy(invalidation).map(({ cacheKey }) => cacheKey);
  };
  index.add(left);
  index.add(stays);
  expect(named()).toEqual(['left', 'stays']);
  index.remove(left);
  expect(named()).toEqual(['stays']);
  index.remove(stays);
  expect(named()).toEqual([]);
});
