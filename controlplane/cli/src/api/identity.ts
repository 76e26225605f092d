/** Describes the user and organization of a token. */
import type { Client } from '@acg/client/typed-api-client-throwing-errors';

type Identity = Awaited<ReturnType<typeof fetchIdentity>>;

export const fetchIdentity = (client: Client) => client.get('/v1/me');

/** Formats `you@example.com, Acme (owner)`. */
export function formatIdentity({ user, orgId, role, orgs }: Identity): string {
  const org = orgs.find(({ id }) => id === orgId)?.name ?? orgId;
  return `${user?.email ?? 'management token'}, ${org} (${role})`;
}
