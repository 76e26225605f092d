/** Who a token is. */
import type { Client } from '@acg/client/client';

type Me = Awaited<ReturnType<typeof whoIs>>;

export const whoIs = (client: Client) => client.get('/v1/me');

/** `you@example.com, Acme (owner)` */
export function identityLine({ user, orgId, role, orgs }: Me): string {
  const org = orgs.find(({ id }) => id === orgId)?.name ?? orgId;
  return `${user?.email ?? 'management token'}, ${org} (${role})`;
}
