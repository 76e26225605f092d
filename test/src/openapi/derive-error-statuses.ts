/** Derives the errors that a route can return from its declaration. */
import type { RouteEntry } from '@acg/controlplane/http/record-declared-routes';

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

/** The statuses that follow from the declaration, and those that the schema names. */
export function listErrorStatuses(route: RouteEntry): number[] {
  const statuses = [400, 500, 503, ...(route.schema?.errorStatuses ?? [])];
  if (route.access !== 'public') statuses.push(401, 403);
  if (hasResourceId(route)) statuses.push(404);
  if (route.method !== 'GET' && route.access !== 'public') statuses.push(409);
  if (route.schema?.body !== undefined) statuses.push(413);
  // Writes have a quota; ledger queries have few slots.
  const changes = ['POST', 'PUT', 'PATCH'].includes(route.method) && route.access !== 'public';
  if (changes || route.url.startsWith('/v1/usage/')) statuses.push(429);
  return [...new Set(statuses)].sort();
}
