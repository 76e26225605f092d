/**
 * What each /v1 route says in its `schema` for the API document: `operation(…)`, and `errorStatuses`, the errors that do
 * not follow from the rest of its declaration. `hide` leaves a route out of the document.
 */
export const API_TAGS = {
  Installation: 'This installation and the health of its providers.',
  Authentication: 'Accounts, passwords and login, including device login for programs.',
  Sessions: 'The sessions of the user.',
  Organizations: 'Organizations are the tenants; all other resources belong to one.',
  Members: 'Members, roles and invitations of an organization.',
  'Management tokens': 'Tokens for programs that call this API: CI, scripts, configuration as code.',
  'Single sign-on': 'Login by the organization’s own identity provider, and the domains that it has verified.',
  Provisioning: 'SCIM 2.0: the organization’s directory admits and removes its members.',
  Projects: 'Groups of agents in an organization.',
  Agents: 'Agents call providers through the gateway, within their limits.',
  'API keys': 'Gateway tokens, which agents use instead of provider credentials.',
  Runs: 'Tasks of an agent with a hard budget and an end, and their sub-runs.',
  Alerts: 'Rules on error rate, latency and spend against the same hours of last week, and what they found.',
  'Trust rules': 'Workloads exchange tokens of their own platform for gateway tokens, so they store none.',
  Issuer: 'The gateway as OpenID Connect issuer: accounts of providers that trust it need no stored secret.',
  Providers: 'Built-in providers and custom providers of the organization.',
  Accounts: 'Provider accounts: the credentials of agents for providers, own or shared.',
  Usage: 'Requests, tokens, cost, latency and rejections from the ledger.',
  Billing: 'Reconciliation of the ledger with the usage and cost reports of providers.',
  Webhooks: 'Webhook endpoints, their deliveries and secrets.',
  Events: 'Events of an organization, and the members who get them by e-mail.',
  Audit: 'The audit trail: who changed what.',
} as const;

declare module 'fastify' {
  interface FastifySchema {
    hide?: boolean;
    operationId?: string;
    tags?: readonly string[];
    summary?: string;
    description?: string;
    consumes?: readonly string[];
    produces?: readonly string[];
    security?: ReadonlyArray<{ [name: string]: readonly string[] }>;
    errorStatuses?: readonly number[];
  }
}

/** The texts of an operation in its route's schema. `operationId` is the name of its method in generated clients. */
export const operation = (tag: keyof typeof API_TAGS, operationId: string, summary: string) => ({
  operationId,
  tags: [tag],
  summary,
});
