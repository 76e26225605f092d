import { expect, test } from 'vitest';
import { LedgerCallMatcher } from './ledger-call-matcher.js';

const CHAT = '/v1/chat/completions';

test('tags: calls on a path of their own are known by it, however much of their body arrived', () => {
  const tags = new LedgerCallMatcher();
  tags.register('call-1', 'agent', 'PUT', '/sink/call-1', 500);
  expect(tags.findCallId('agent', 'PUT', '/sink/call-1', 120)).toBe('call-1');
  expect(tags.findCallId('other', 'PUT', '/sink/call-1', 500)).toBeNull();
  expect(tags.findCallId('agent', 'GET', '/sink/call-1', 500)).toBeNull();
});

test('tags: calls of one path are known by the length of their body, which none has twice', () => {
  const tags = new LedgerCallMatcher();
  const lengths = [300, 300, 310].map((least) => tags.nextUniqueBodyLength('agent', least));
  expect(lengths).toEqual([300, 301, 310]);
  expect(tags.nextUniqueBodyLength('other', 300)).toBe(300);
  for (const [i, length] of lengths.entries()) tags.register(`call-${i}`, 'agent', 'POST', CHAT, length);
  expect(tags.findCallId('agent', 'POST', CHAT, 301)).toBe('call-1');
  expect(tags.findCallId('agent', 'POST', CHAT, 302)).toBeNull();
});

test('tags: two calls that could not be told apart are refused', () => {
  const tags = new LedgerCallMatcher();
  tags.register('call-1', 'agent', 'POST', CHAT, 300);
  expect(() => tags.register('call-2', 'agent', 'POST', CHAT, 300)).toThrow('cannot be told apart');
});
