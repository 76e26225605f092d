/** Derives the errors that a route can return from its declaration. */
import type { RouteEntry } from '@acg/controlplane/http/route-table';

export const ERRORS: Readonly<
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

interface Fields {
  readonly properties?: Readonly<Record<string, { readonly format?: string }>>;
}

/** Whether the caller names something by its id, which may not be there. */
const hasResourceId = ({ url, schema }: RouteEntry): boolean =>
  url.includes(':') ||
  [schema?.querystring, schema?.body].some((part) =>
    Object.entries((part as Fields | undefined)?.properties ?? {}).some(
      ([name, { format }]) => format === 'uuid' || /Ids?$/.test(name),
    ),
  );

export function listErrorStatuses(route: RouteEntry): number[] {
  const statuses = [400, 500, 503];
  if (route.access !== 'public') statuses.push(401, 403);
  if (hasResourceId(route)) statuses.push(404);
  if (route.method !== 'GET' && route.access !== 'public') statuses.push(409);
  if (route.schema?.body !== undefined) statuses.push(413);
  // Writes have a quota; ledger queries have few slots.
  const changes = ['POST', 'PUT', 'PATCH'].includes(route.method) && route.access !== 'public';
  if (changes || route.url.startsWith('/v1/usage/')) statuses.push(429);
  return statuses;
}
