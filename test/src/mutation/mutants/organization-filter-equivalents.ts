import type { Equivalents } from '../organization-filters.js';

const AGAIN = 'another statement of the same call holds the row to the organization, too';

export const ORGANIZATION_FILTER_EQUIVALENTS: Equivalents = {
  'controlplane/src/provider-accounts/store.ts: where org_id = ${orgId}': AGAIN,
  'controlplane/src/agents/store.ts: const where = sql`org_id = ${orgId}':
    'agents of one project, which was looked up in the organization before',
  'controlplane/src/agents/store.ts: where org_id = ${orgId}': AGAIN,
  'controlplane/src/api-keys/store.ts: select ${columns(sql)} from api_keys where org_id = ${orgId}': AGAIN,
  'controlplane/src/agents/store.ts: await tx`delete from agents where org_id = ${orgId}': AGAIN,
  'controlplane/src/auth/management-tokens/store.ts: select ${managementTokenColumns(sql)} from management_tokens where id = ${id} and org_id = ${orgId}':
    'the token of the request itself: it was found by its secret, and its organization with it',
  'controlplane/src/members/store.ts: update invitations set role = ${role}, invited_by = ${actorId} where org_id = ${orgId}':
    AGAIN,
  'controlplane/src/members/store.ts: } else await tx`delete from invitations where org_id = ${orgId}': AGAIN,
  'controlplane/src/projects/store.ts: where org_id = ${orgId}': AGAIN,
  'controlplane/src/projects/store.ts: await tx`delete from projects where org_id = ${orgId}': AGAIN,
  'controlplane/src/providers/custom/custom-provider-store.ts: where org_id = ${orgId}': AGAIN,
  'controlplane/src/providers/custom/custom-provider-store.ts: await tx`update custom_providers set deleted_at = now() where org_id = ${orgId}':
    AGAIN,
  'controlplane/src/providers/custom/custom-provider-store.ts: await tx`delete from provider_accounts where org_id = ${orgId}':
    AGAIN,
  'controlplane/src/providers/custom/custom-provider-store.ts: await tx`delete from credentials where org_id = ${orgId}':
    AGAIN,
  'controlplane/src/reports/calls/call-store.ts: where org_id = ${orgId}': AGAIN,
};
