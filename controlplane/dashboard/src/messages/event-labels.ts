/** Names of events, as people say them. */
const EVENT_LABELS = {
  'agent.created': 'Agent made',
  'agent.deleted': 'Agent deleted',
  'agent.budget_exceeded': 'Budget used up',
  'provider.circuit_opened': 'Provider failing, calls stopped',
  'provider.circuit_closed': 'Provider well again',
  'abuse.detected': 'Suspicious traffic',
  'credential.refused': 'Provider refuses a credential',
  'credential.accepted': 'Provider takes the credential again',
  'webhook.paused': 'Webhook paused',
  'usage.threshold': 'Budget threshold reached',
} as const;

export type EventName = keyof typeof EVENT_LABELS;
export const EVENT_NAMES = Object.keys(EVENT_LABELS) as EventName[];

export const eventLabel = (event: EventName): string => EVENT_LABELS[event];
