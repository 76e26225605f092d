import { expect, test } from 'vitest';
import { decodeContext } from './decode-context.js';
import {
  endsSession,
  type Invalidation,
  listEndedRuns,
  RecentInvalidations,
} from './invalidation-matching-and-history.js';
import { createContextMessage } from './testing/context-message-fixture.js';

const context = decodeContext(createContextMessage());

test.each<[Invalidation['kind'], string, boolean]>([
  ['key', 'key-1', true],
  ['key', 'key-2', false],
  ['agent', 'agent-1', true],
  ['org', 'org-1', true],
  ['project', 'project-2', false],
  ['provider', 'org-1/openai', true],
  ['provider', 'org-1/s3', false],
  ['provider', 'org-2/openai', false],
  ['account', 'agent-1/account-1', true],
  ['account', 'agent-1/account-2', false],
  ['account', 'agent-2/account-1', false],
])('an open call to openai: %s %s ends it: %s', (kind, id, ends) => {
  const upstream = context.upstreams.get('openai')!;
  expect(endsSession({ revision: 1, kind, id, endsSessions: true }, context, upstream)).toBe(ends);
});

test.each([
  ['account-1', 6, true],
  ['account-1', 7, false],
  ['account-1', 8, false],
  ['account-2', 6, false],
])('a compromised former credential ends the calls that use it: %s, version %i: %s', (credentialId, version, ends) => {
  const upstream = { ...context.upstreams.get('openai')!, credentialId, credentialVersion: version };
  const compromised = { id: 'account-1', version: 7 };
  const invalidation = { revision: 1, kind: 'agent', id: 'agent-1', endsSessions: true, compromised } as const;
  expect(endsSession(invalidation, context, upstream)).toBe(ends);
  expect(endsSession({ ...invalidation, id: 'agent-2' }, context, upstream)).toBe(false);
});

test.each([
  ['run-2', true],
  ['run-1', true],
  ['key-1', true],
  ['run-3', false],
])('an open call of run-2 below run-1: the end of %s ends it: %s', (id, ends) => {
  const ofRun = { ...context, runIds: ['run-2', 'run-1'] };
  expect(
    endsSession({ revision: 1, kind: 'key', id, endsSessions: true }, ofRun, context.upstreams.get('openai')!),
  ).toBe(ends);
});

test('an open call to openai continues when another provider of the agent changes', () => {
  const both = { ...context, upstreams: new Map([...context.upstreams, ['s3', context.upstreams.get('openai')!]]) };
  const ends = (slug: string): boolean =>
    endsSession({ revision: 1, kind: 'provider', id: 'org-1/s3', endsSessions: true }, both, {
      ...both.upstreams.get(slug)!,
      providerSlug: slug,
    });
  expect([ends('openai'), ends('s3')]).toEqual([false, true]);
});

test('recent invalidations: a context older than the overwritten ones counts as outdated', () => {
  const recent = new RecentInvalidations(3);
  const add = (revision: number, id: string) => recent.add({ revision, kind: 'agent', id, endsSessions: false });
  for (const [revision, id] of [
    [1, 'x'],
    [2, 'agent-1'],
    [3, 'y'],
    [4, 'z'],
  ] as const)
    add(revision, id);
  expect(recent.isOutdated(0, context)).toBe(true); // revision 1 was overwritten and may have affected this context
  expect(recent.isOutdated(1, context)).toBe(true); // revision 2 affects this context
  expect(recent.isOutdated(2, context)).toBe(false);
  const other = { ...context, agentId: 'agent-9' };
  expect([recent.isOutdated(0, other), recent.isOutdated(1, other)]).toEqual([true, false]);
  recent.clear();
  expect(recent.isOutdated(0, context)).toBe(false);
});

test.each([
  ['key', 'run', ['run']],
  ['key', 'parent', ['run', 'parent']],
  ['key', 'top', ['run', 'parent', 'top']],
  ['key', 'key-1', []],
  ['agent', 'top', []],
] as const)('the end of the %s %s ends the runs %j of the context', (kind, id, ended) => {
  const runs = { runIds: ['run', 'parent', 'top'] };
  expect(listEndedRuns({ revision: 1, kind, id, endsSessions: true }, runs)).toEqual(ended);
});
