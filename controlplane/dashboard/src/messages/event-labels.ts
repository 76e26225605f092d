/** Labels of event types. */
const EVENT_LABELS = {
  'agent.created': 'Agent created',
  'agent.deleted': 'Agent deleted',
  'agent.budget_exceeded': 'Budget exceeded',
  'provider.circuit_opened': 'Provider failing, calls blocked',
  'provider.circuit_closed': 'Provider recovered',
  'abuse.detected': 'Suspicious traffic',
  'credential.refused': 'Provider rejected a credential',
  'credential.accepted': 'Provider accepts the credential again',
  'webhook.paused': 'Webhook paused',
  'usage.threshold': 'Budget threshold reached',
} as const;

export type EventName = keyof typeof EVENT_LABELS;
export const EVENT_NAMES = Object.keys(EVENT_LABELS) as EventName[];

export const eventLabel = (event: EventName): string => EVENT_LABELS[event];
