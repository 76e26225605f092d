/** What an entry of the event catalogue (event-catalogue.ts) states. */
import type { Static, TObject } from 'typebox';

/**
 * `info`: a change that users of the organization made themselves. `notice`: a recovery. `warning`: look soon.
 * `critical`: calls or deliveries fail until a person acts.
 */
export const EVENT_SEVERITIES = ['info', 'notice', 'warning', 'critical'] as const;
type EventSeverity = (typeof EVENT_SEVERITIES)[number];

export interface EventType<Schema extends TObject> {
  readonly title: string;
  /** Sentences: what happened, and how often it is sent. Part of docs/contract.md. */
  readonly description: string;
  readonly severity: EventSeverity;
  readonly schema: Schema;
  /** Sent by `POST /v1/webhooks/:id/test`. Every id is the nil UUID, so receivers can tell samples from real events. */
  readonly sample: Static<Schema>;
  /** Sent to webhook endpoints alone: in no list of events, and never mailed. */
  readonly webhooksOnly?: true;
  /** Fields of `data` that mails state beside the agent's name. */
  readonly mailedFields: readonly (keyof Static<Schema> & string)[];
}

/** Checks sample and fields of an entry against its schema. */
export const defineEvent = <Schema extends TObject>(type: EventType<Schema>): EventType<Schema> => type;
