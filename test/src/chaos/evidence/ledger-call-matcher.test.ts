import { expect, test } from 'vitest';
import { LedgerCallMatcher } from './ledger-call-matcher.js';

const CHAT = '/v1/chat/completions';

test('ledger call matcher: finds a call with a unique path whatever its body length', () => {
  const ledgerCallMatcher = new LedgerCallMatcher();
  ledgerCallMatcher.register('call-1', 'agent', 'PUT', '/sink/call-1', 500);
  expect(ledgerCallMatcher.findCallId('agent', 'PUT', '/sink/call-1', 120)).toBe('call-1');
  expect(ledgerCallMatcher.findCallId('other', 'PUT', '/sink/call-1', 500)).toBeNull();
  expect(ledgerCallMatcher.findCallId('agent', 'GET', '/sink/call-1', 500)).toBeNull();
});

test('ledger call matcher: finds calls of one path by their unique body length', () => {
  const ledgerCallMatcher = new LedgerCallMatcher();
  const lengths = [300, 300, 310].map((least) => ledgerCallMatcher.nextUniqueBodyLength('agent', least));
  expect(lengths).toEqual([300, 301, 310]);
  expect(ledgerCallMatcher.nextUniqueBodyLength('other', 300)).toBe(300);
  for (const [i, length] of lengths.entries()) ledgerCallMatcher.register(`call-${i}`, 'agent', 'POST', CHAT, length);
  expect(ledgerCallMatcher.findCallId('agent', 'POST', CHAT, 301)).toBe('call-1');
  expect(ledgerCallMatcher.findCallId('agent', 'POST', CHAT, 302)).toBeNull();
});

test('ledger call matcher: throws for two calls with the same key', () => {
  const ledgerCallMatcher = new LedgerCallMatcher();
  ledgerCallMatcher.register('call-1', 'agent', 'POST', CHAT, 300);
  expect(() => ledgerCallMatcher.register('call-2', 'agent', 'POST', CHAT, 300)).toThrow('have the same key');
});
