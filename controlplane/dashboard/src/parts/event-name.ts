/** Names of events, as people say them. */
const NAMES = {
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

export type EventName = keyof typeof NAMES;
export const EVENT_NAMES = Object.keys(NAMES) as EventName[];

export const eventName = (event: EventName): string => NAMES[event];
