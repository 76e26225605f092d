/**
 * Takes usage out of a batch that belongs to organizations of which the data plane was given no context: a stolen
 * identity cannot bill strangers. Its records are quarantined without an organization, so that they use up nothing of
 * the organization's own quarantine; counts and observations are dropped.
 */
import { NIL_UUID } from '@acg/base/uuid-patterns';
import { quarantineEntry, type UsageBatch } from './decode-usage-batch.js';

export const UNGRANTED_REASON = 'the data plane was given no context of the organization';

/** Returns those organizations for which the sender must not book. */
export type FindUngrantedOrganizations = (
  dataPlaneId: string,
  orgIds: readonly string[],
) => Promise<ReadonlySet<string>>;

export async function quarantineUngrantedUsage(
  batch: UsageBatch,
  findUngranted: FindUngrantedOrganizations,
): Promise<UsageBatch> {
  const { entries, rejections, ipObservations, deferredUsage } = batch;
  const orgIds = new Set<string>();
  for (const { dimensions } of entries) orgIds.add(dimensions.orgId);
  for (const { orgId } of rejections) orgIds.add(orgId);
  for (const { orgId } of ipObservations) orgIds.add(orgId);
  for (const { fetch } of deferredUsage) orgIds.add(fetch.orgId);
  if (orgIds.size === 0) return batch;
  const ungranted = await findUngranted(batch.dataPlaneId, [...orgIds]);
  if (ungranted.size === 0) return batch;
  const quarantined = entries
    .filter(({ dimensions }) => ungranted.has(dimensions.orgId))
    .map((entry) => ({ ...quarantineEntry(entry, UNGRANTED_REASON), orgId: NIL_UUID }));
  return {
    ...batch,
    entries: entries.filter(({ dimensions }) => !ungranted.has(dimensions.orgId)),
    rejections: rejections.filter(({ orgId }) => !ungranted.has(orgId)),
    ipObservations: ipObservations.filter(({ orgId }) => !ungranted.has(orgId)),
    deferredUsage: deferredUsage.filter(({ fetch }) => !ungranted.has(fetch.orgId)),
    quarantined: [...batch.quarantined, ...quarantined],
  };
}
