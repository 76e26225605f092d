import { expect, test } from 'vitest';
import { CallTags } from './call-tags.js';

const CHAT = '/v1/chat/completions';

test('tags: calls on a path of their own are known by it, however much of their body arrived', () => {
  const tags = new CallTags();
  tags.note('call-1', 'agent', 'PUT', '/sink/call-1', 500);
  expect(tags.callOf('agent', 'PUT', '/sink/call-1', 120)).toBe('call-1');
  expect(tags.callOf('other', 'PUT', '/sink/call-1', 500)).toBeNull();
  expect(tags.callOf('agent', 'GET', '/sink/call-1', 500)).toBeNull();
});

test('tags: calls of one path are known by the length of their body, which none has twice', () => {
  const tags = new CallTags();
  const lengths = [300, 300, 310].map((least) => tags.nextLength('agent', least));
  expect(lengths).toEqual([300, 301, 310]);
  expect(tags.nextLength('other', 300)).toBe(300);
  for (const [i, length] of lengths.entries()) tags.note(`call-${i}`, 'agent', 'POST', CHAT, length);
  expect(tags.callOf('agent', 'POST', CHAT, 301)).toBe('call-1');
  expect(tags.callOf('agent', 'POST', CHAT, 302)).toBeNull();
});

test('tags: two calls that could not be told apart are refused', () => {
  const tags = new CallTags();
  tags.note('call-1', 'agent', 'POST', CHAT, 300);
  expect(() => tags.note('call-2', 'agent', 'POST', CHAT, 300)).toThrow('cannot be told apart');
});
