import { expect, test } from 'vitest';
import { createEventMail } from './event-mail-text.js';
import type { QueuedEvent } from './store.js';

const OCCURRED_AT = new Date('2026-11-23T18:00:00Z');
const mailOf = (...events: readonly QueuedEvent[]) =>
  createEventMail('https://gateway.example', 'ada@example.com', 'Acme', events.length, events);

test('event mail: states title, name and facts of an event', () => {
  const mail = mailOf({
    event: 'abuse.detected',
    data: { agentId: 'a', agentName: 'Bot', reason: 'rejections', count: 300 },
    occurredAt: OCCURRED_AT,
  });
  expect(mail.subject).toBe('Acme: Suspicious traffic: abuse.detected');
  expect(mail.text).toContain('2026-11-23 18:00 UTC  Suspicious traffic: abuse.detected  agent Bot');
});

test('event mail: an event that only another release knows has its bare name, and the agent', () => {
  const unknown = { event: 'agent.renamed', data: { agentId: 'a', agentName: 'Bot' }, occurredAt: OCCURRED_AT };
  expect(mailOf(unknown).subject).toBe('Acme: agent.renamed');
  expect(mailOf(unknown, { ...unknown, event: 'constructor' }).text).toContain(
    '2026-11-23 18:00 UTC  agent.renamed  agent Bot\n2026-11-23 18:00 UTC  constructor  agent Bot\n',
  );
});
