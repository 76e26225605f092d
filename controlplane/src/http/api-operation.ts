/**
 * What each /v1 route says in its `schema` for the API document: `operationId`, `tags` with one group, `summary`, and
 * `errorStatuses`, the errors that do not follow from the rest of its declaration.
 */
import type { RouteOptions } from 'fastify';

export const API_TAGS = {
  Installation: 'This installation and the health of its providers.',
  Authentication: 'Accounts, passwords and login, including device login for programs.',
  Sessions: 'The sessions of the user.',
  Organizations: 'Organizations are the tenants; all other resources belong to one.',
  Members: 'Members, roles and invitations of an organization.',
  'Management tokens': 'Tokens for programs that call this API: CI, scripts, configuration as code.',
  Projects: 'Groups of agents in an organization.',
  Agents: 'Agents call providers through the gateway, within their limits.',
  'API keys': 'Gateway tokens, which agents use instead of provider credentials.',
  Providers: 'Built-in providers and custom providers of the organization.',
  Accounts: 'Provider accounts: the credentials of agents for providers, own or shared.',
  Usage: 'Requests, tokens, cost, latency and rejections from the ledger.',
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
    produces?: readonly string[];
    security?: ReadonlyArray<{ [name: string]: readonly string[] }>;
    errorStatuses?: readonly number[];
  }
}

/** Null: complete, or hidden from the document. Else what the schema lacks. */
export function findMissingOperationText(schema: RouteOptions['schema']): string | null {
  if (schema?.hide === true) return null;
  const { operationId, tags = [], summary } = schema ?? {};
  if (operationId === undefined) return 'operationId';
  if (summary === undefined) return 'summary';
  return tags.length === 1 && Object.hasOwn(API_TAGS, tags[0]!) ? null : 'one of API_TAGS as its tag';
}
