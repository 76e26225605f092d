/** Founding an organization: with its owner, its first project and its entry in the trail, in one transaction. */
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit } from '../audit/trail.js';
import type { Tx } from '../db/sql.js';
import { Conflict } from '../domain/errors.js';
import { slugCandidates, slugOf } from '../domain/slug.js';
import { insertNamedProject } from '../projects/service.js';
import * as store from './store.js';

const FIRST_PROJECT = 'Default';

/** An organization with its owner and its first project. */
export async function foundOrganization(
  tx: Tx,
  founder: { readonly id: string; readonly email: string },
  name: string,
  ip: string,
): Promise<{ id: string; name: string; slug: string }> {
  const org = await insertNamedOrganization(tx, name, founder.id);
  await store.insertMembership(tx, org.id, founder.id, 'owner');
  const project = await insertNamedProject(tx, org.id, FIRST_PROJECT);
  const actor = { userId: founder.id, email: founder.email, orgId: org.id, ip };
  const changes = { name: [null, org.name], firstProject: [null, project.id] } as const;
  await recordAudit(tx, actor, 'organization.create', { type: 'organization', id: org.id }, changes);
  return org;
}

/** No lock and no scan: each candidate is tried until one is free. */
async function insertNamedOrganization(
  tx: Tx,
  name: string,
  createdBy: string,
): Promise<{ id: string; name: string; slug: string }> {
  const id = uuidv7(Date.now());
  for (const slug of slugCandidates(slugOf(name, 'org'))) {
    if (await store.insertOrganization(tx, { id, name, slug, createdBy })) return { id, name, slug };
  }
  throw new Conflict('no free slug for this organization name: choose another name');
}
