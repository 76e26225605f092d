/**
 * Spool bytes per organization, by {@link DynamicShare}: new calls of an organization are rejected once it holds its
 * part, running calls are counted in any case. So one organization can fill at most 7/8 of the spool when the ledger is
 * unavailable or too slow. The organization with the most bytes is rejected first.
 *
 * Bytes left by an earlier process run count for no organization. A file's bytes are released when the file is.
 */
import { DynamicShare } from '@acg/base/fairness/dynamic-share';

/** Part of the spool, or of the rejection counts, that one organization alone may fill. */
export const ORG_SPOOL_FRACTION = 7 / 8;

/** Bytes of each organization in a sealed file. */
export type FileOrgBytes = DynamicShare['lanes'];

/** Files of earlier runs use capacity, too, so the callers say how much is free. */
const createUnlimited = (): DynamicShare =>
  new DynamicShare({ capacity: Number.POSITIVE_INFINITY, fraction: ORG_SPOOL_FRACTION });

export class OrgSpoolUsage {
  readonly #share = createUnlimited();
  #inOpenFile = createUnlimited();

  /** Adds bytes of `orgId` in the open file. */
  add(orgId: string, bytes: number): void {
    this.#share.take(orgId, bytes);
    this.#inOpenFile.take(orgId, bytes);
  }

  /** Closes the accounting of the open file and returns its bytes per organization. */
  sealFile(): FileOrgBytes {
    const { lanes } = this.#inOpenFile;
    this.#inOpenFile = createUnlimited();
    return lanes;
  }

  /** Releases the bytes of a file that was deleted or retained. */
  releaseFile(fileBytes: FileOrgBytes): void {
    for (const [orgId, { held }] of fileBytes) this.#share.release(orgId, held);
  }

  /** Whether the organization has used its part while `bytesFree` bytes are free. */
  isOverQuota(orgId: string, bytesFree: number): boolean {
    return this.#share.available(orgId, bytesFree) <= 0;
  }

  /** Whether any organization has used its part. */
  isAnyOverQuota(bytesFree: number): boolean {
    for (const orgId of this.#share.lanes.keys()) if (this.isOverQuota(orgId, bytesFree)) return true;
    return false;
  }
}
