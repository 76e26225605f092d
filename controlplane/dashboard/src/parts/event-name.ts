/** Names of events, as people say them. */
const NAMES: Readonly<Record<string, string>> = {
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
};

export const eventName = (event: string): string => NAMES[event] ?? event;
