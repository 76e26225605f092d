/**
 * Texts of the API document that belong to no single route. `npm run openapi` writes them into openapi.json
 * (test/src/openapi). The texts of an operation are in its route's schema, those of events in events/event-catalogue.ts.
 */
import type { Access } from '../http/route-access.js';

export const INFO = {
  title: 'Agent Credential Gateway',
  summary: 'Agents hold one gateway token; the gateway holds the credentials, the limits and the bill.',
  description:
    'The management API: organizations, agents, gateway tokens, provider accounts, usage, webhooks. ' +
    'Bodies are JSON; unknown fields are refused. Times are ISO 8601 in UTC, money is in US cents. Lists take ' +
    '`limit` and `offset`. Every error is `{"error": "…"}`, and every answer has the header X-Request-Id.',
};

export const SERVERS = [{ url: 'https://gateway.example', description: 'Where your control plane is.' }];

export const ACCESS_TEXTS: Readonly<Record<Access, string>> = {
  public: 'No session needed.',
  session: 'Any session, whatever the role.',
  viewer: 'Role: viewer or higher.',
  member: 'Role: member or higher.',
  admin: 'Role: admin or owner.',
  owner: 'Role: owner.',
};

export const SECURITY_SCHEMES = {
  session: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The token of a person’s session, from login; refused after logout.',
  },
  managementToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'acgm_…',
    description: 'A management token, for programs.',
  },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-acg_session',
    description:
      'The session of a browser (acg_session where the gateway is served over plain http). Writes with it are taken ' +
      'from pages of the gateway only.',
  },
} as const;

export const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same call with the same key again gets the first answer again, and nothing happens twice.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
} as const;

export const RESPONSE_HEADERS = {
  RetryAfter: { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0 } },
  RequestId: { description: 'Names this call in the logs of the gateway.', schema: { type: 'string' } },
} as const;

/** Errors of operations, by status. */
export const ERROR_TEXTS: Readonly<
  Record<number, { readonly name: string; readonly description: string; readonly example: string }>
> = {
  400: {
    name: 'BadRequest',
    description: 'Something in the request is wrong; the text names the field.',
    example: 'name is required',
  },
  401: {
    name: 'Unauthenticated',
    description: 'The credentials are missing, invalid or expired.',
    example: 'the session token is invalid or expired: log in, or refresh it',
  },
  403: {
    name: 'Forbidden',
    description: 'The caller may not do this.',
    example: 'this requires the role admin or higher; your role in this organization is viewer',
  },
  404: {
    name: 'NotFound',
    description: 'The resource does not exist or belongs to another organization.',
    example: 'no such agent',
  },
  409: {
    name: 'Conflict',
    description: 'The request conflicts with the current state; the text says why.',
    example: 'the organization already has 1000 shared credentials: delete one first',
  },
  413: {
    name: 'TooLarge',
    description: 'The body has more than 1 MiB.',
    example: 'the body is larger than 1048576 bytes',
  },
  429: {
    name: 'TooManyRequests',
    description: 'Too many requests, concurrent or in a time window; see Retry-After.',
    example: 'too many logins: try again in 30 seconds',
  },
  500: {
    name: 'InternalError',
    description: 'A fault of the gateway; the text names the request.',
    example: 'internal error, request 7d1f6c0e-52b8-4a63-9f0d-3b8e5a2c4d13',
  },
  503: {
    name: 'Unavailable',
    description: 'The database is unavailable; see Retry-After.',
    example: 'the database is unavailable. Retry in a few seconds.',
  },
};

/** Headers of deliveries to the endpoints of webhooks. */
export const DELIVERY_HEADERS: Readonly<Record<string, string>> = {
  'X-Webhook-Signature':
    'HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation.',
  'X-Webhook-Signatures': '`v1=` and the signature for each valid secret: two during a rotation.',
  'X-Webhook-Event': 'The name of the event.',
  'X-Webhook-Delivery': 'The id of the delivery, the same on every retry.',
};
