/** The text of a mail about events. It contains only names that mail programs do not turn into links. */
import { findEventType } from '../events/event-catalogue.js';
import type { Mail } from '../mail/mailer.js';
import type { QueuedEvent } from './store.js';

const PLAIN_NAME = /^[\p{L}\p{N} _-]{1,80}$/u;

export function createEventMail(
  publicUrl: string,
  to: string,
  orgName: string,
  total: number,
  shown: readonly QueuedEvent[],
): Mail {
  const more = total > shown.length ? `\n… and ${total - shown.length} more\n` : '';
  return {
    to,
    purpose: 'event',
    subject: total === 1 ? `${orgName}: ${formatTitle(shown[0]!)}` : `${orgName}: ${total} events`,
    text: `In the organization ${orgName} of the Agent Credential Gateway:

${shown.map(formatEvent).join('\n')}
${more}
All events: ${publicUrl}

You get this mail because you are a member and subscribed to these events. To unsubscribe, call PUT /v1/event-mail/<your user id>
with {"events": []}.\n`,
  };
}

/** `Suspicious traffic: abuse.detected`; an event that this release does not know has its name only. */
function formatTitle({ event }: QueuedEvent): string {
  const type = findEventType(event);
  return type === null ? event : `${type.title}: ${event}`;
}

function formatEvent(event: QueuedEvent): string {
  const at = event.occurredAt.toISOString().slice(0, 16).replace('T', ' ');
  return [`${at} UTC`, formatTitle(event), ...formatFacts(event)].join('  ');
}

function formatFacts({ event, data }: QueuedEvent): readonly string[] {
  const { agentName, agentId } = data;
  const agent = typeof agentName === 'string' && PLAIN_NAME.test(agentName) ? agentName : agentId;
  return [
    ...(typeof agent === 'string' ? [`agent ${agent}`] : []),
    ...(findEventType(event)?.mailedFields ?? []).map((name) => `${name} ${String(data[name])}`),
  ];
}
