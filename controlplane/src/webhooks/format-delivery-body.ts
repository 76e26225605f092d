/**
 * The body of a delivery by the kind of its endpoint: the event itself, or a message for an incoming webhook of Slack or
 * Microsoft Teams. The stored payload stays the event, so one event is one payload for all endpoints.
 */
import { EVENT_TYPES, type EventName } from '../events/event-catalogue.js';

export const ENDPOINT_KINDS = ['webhook', 'slack', 'teams'] as const;
export type EndpointKind = (typeof ENDPOINT_KINDS)[number];

interface EventPayload {
  readonly event: EventName;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Characters of one value in a message: names come from members, and a message has a bound. */
const VALUE_CHARS_MAX = 200;

/** `payload`: the event as JSON. */
export function formatDeliveryBody(kind: EndpointKind, payload: string): string {
  if (kind === 'webhook') return payload;
  const event = JSON.parse(payload) as EventPayload;
  const title = EVENT_TYPES[event.event]?.title ?? event.event;
  const facts = Object.entries(event.data)
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([name, value]) => ({ name, value: String(value).slice(0, VALUE_CHARS_MAX) }));
  return JSON.stringify(kind === 'slack' ? slackMessage(title, event, facts) : teamsMessage(title, event, facts));
}

type Facts = readonly { readonly name: string; readonly value: string }[];

/** https://docs.slack.dev/reference/block-kit/blocks/section-block: plain text, so that no value formats or mentions. */
const slackMessage = (title: string, { event, timestamp }: EventPayload, facts: Facts) => ({
  text: escapeSlack(`${title} (${event})`),
  blocks: [
    { type: 'header', text: { type: 'plain_text', text: title } },
    {
      type: 'section',
      text: {
        type: 'plain_text',
        emoji: false,
        text: [`${event}, ${timestamp}`, ...facts.map(({ name, value }) => `${name}: ${value}`)]
          .join('\n')
          .slice(0, 3_000),
      },
    },
  ],
});

/** https://docs.slack.dev/messaging/formatting-message-text#escaping */
const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** An Adaptive Card, which the Workflows app of Teams posts. FactSet values are plain text. */
const teamsMessage = (title: string, { event, timestamp }: EventPayload, facts: Facts) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.4',
        body: [
          { type: 'TextBlock', text: title, weight: 'Bolder', size: 'Medium', wrap: true },
          {
            type: 'FactSet',
            facts: [{ title: event, value: timestamp }, ...facts.map(({ name, value }) => ({ title: name, value }))],
          },
        ],
      },
    },
  ],
});

/** What people see of an endpoint's URL: the path of a chat's incoming webhook is its secret. */
export function displayUrl({ kind, url }: { readonly kind: EndpointKind; readonly url: string }): string {
  return kind === 'webhook' ? url : `${new URL(url).origin}/…`;
}
