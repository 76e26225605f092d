/** Creates an organization with its owner, its first project and its audit entry in one transaction. */
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit } from '../../audit/audit-trail.js';
import type { Tx } from '../../db/postgres-client.js';
import { Conflict } from '../../domain/errors.js';
import { slugCandidates, slugify } from '../../domain/slug.js';
import { insertProjectWithFreeSlug } from '../../projects/service.js';
import * as store from './user-and-membership-store.js';

const FIRST_PROJECT_NAME = 'Default';

export async function createOrganization(
  tx: Tx,
  founder: { readonly id: string; readonly email: string },
  name: string,
  ip: string,
): Promise<{ id: string; name: string; slug: string }> {
  const org = await insertOrganizationWithFreeSlug(tx, name, founder.id);
  await store.insertMembership(tx, org.id, founder.id, 'owner');
  const project = await insertProjectWithFreeSlug(tx, org.id, FIRST_PROJECT_NAME);
  const actor = { userId: founder.id, email: founder.email, orgId: org.id, ip };
  const changes = { name: [null, org.name], firstProject: [null, project.id] } as const;
  await recordAudit(tx, actor, 'organization.create', { type: 'organization', id: org.id }, changes);
  return org;
}

/** Tries slug candidates until one is free. This needs no lock and no scan. */
async function insertOrganizationWithFreeSlug(
  tx: Tx,
  name: string,
  createdBy: string,
): Promise<{ id: string; name: string; slug: string }> {
  const id = uuidv7(Date.now());
  for (const slug of slugCandidates(slugify(name, 'org'))) {
    if (await store.insertOrganization(tx, { id, name, slug, createdBy })) return { id, name, slug };
  }
  throw new Conflict('no free slug for this organization name: choose another name');
}
