/**
 * Spool bytes per organization. New calls of an organization are rejected once its records take {@link
 * ORG_TO_FREE_RATIO} times the free bytes; running calls are shared by the same rule. So one organization can fill at
 * most 7/8 of the spool when the ledger is unavailable or too slow. The organization with the most bytes is rejected
 * first.
 *
 * Bytes left by an earlier process run count for no organization. A file's bytes are released when the file is.
 */
import { invariant } from '@acg/base/invariant';

export const ORG_TO_FREE_RATIO = 7;

interface OrgBytes {
  readonly orgId: string;
  bytes: number;
  /** The part in the file that is open for writing. */
  inOpenFile: number;
}

/** Bytes of each organization in a sealed file. */
export type FileOrgBytes = readonly (readonly [org: OrgBytes, bytes: number])[];

export class OrgSpoolUsage {
  readonly #orgs = new Map<string, OrgBytes>();
  #inOpenFile: OrgBytes[] = [];

  /** Adds bytes of `orgId` in the open file. */
  add(orgId: string, bytes: number): void {
    let org = this.#orgs.get(orgId);
    if (org === undefined) {
      org = { orgId, bytes: 0, inOpenFile: 0 };
      this.#orgs.set(orgId, org);
    }
    if (org.inOpenFile === 0) this.#inOpenFile.push(org);
    org.bytes += bytes;
    org.inOpenFile += bytes;
  }

  /** Closes the accounting of the open file and returns its bytes per organization. */
  sealFile(): FileOrgBytes {
    const orgs = this.#inOpenFile;
    this.#inOpenFile = [];
    return orgs.map((org) => {
      const bytes = org.inOpenFile;
      org.inOpenFile = 0;
      return [org, bytes] as const;
    });
  }

  /** Releases the bytes of a file that was deleted or retained. */
  releaseFile(fileBytes: FileOrgBytes): void {
    for (const [org, bytes] of fileBytes) {
      org.bytes -= bytes;
      invariant(org.bytes >= 0, 'spool_bytes_not_negative');
      if (org.bytes <= 0) this.#orgs.delete(org.orgId);
    }
  }

  /** Whether the organization has used its quota while `bytesFree` bytes are free. */
  isOverQuota(orgId: string, bytesFree: number): boolean {
    const org = this.#orgs.get(orgId);
    return org !== undefined && org.bytes >= ORG_TO_FREE_RATIO * bytesFree;
  }

  /** Whether any organization has used its quota. */
  isAnyOverQuota(bytesFree: number): boolean {
    for (const orgId of this.#orgs.keys()) if (this.isOverQuota(orgId, bytesFree)) return true;
    return false;
  }
}
