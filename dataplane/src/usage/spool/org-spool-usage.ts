/**
 * Whose records the spool's files hold. While the ledger is away, or slower than one organization calls, a new call of an
 * organization is refused once its records take {@link ORG_TO_FREE_RATIO} times what is free: the rule by which calls under way
 * are shared. So one alone may fill all but an 8th of the spool, in which the others go on; who holds most stops first.
 *
 * What an earlier run left counts for nobody. A file's bytes are given back with the file.
 */

export const ORG_TO_FREE_RATIO = 7;

interface OrgBytes {
  readonly orgId: string;
  bytes: number;
  /** The part in the file that is being written. */
  inOpenFile: number;
}

/** What each organization has in a file that is written no more. */
export type FileOrgBytes = readonly (readonly [org: OrgBytes, bytes: number])[];

export class OrgSpoolUsage {
  readonly #orgs = new Map<string, OrgBytes>();
  #inOpenFile: OrgBytes[] = [];

  /** Bytes of `orgId` that go into the file that is being written. */
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

  /** The file that is being written is complete. */
  sealFile(): FileOrgBytes {
    const orgs = this.#inOpenFile;
    this.#inOpenFile = [];
    return orgs.map((org) => {
      const bytes = org.inOpenFile;
      org.inOpenFile = 0;
      return [org, bytes] as const;
    });
  }

  /** The file is gone. */
  releaseFile(shares: FileOrgBytes): void {
    for (const [org, bytes] of shares) {
      org.bytes -= bytes;
      if (org.bytes === 0) this.#orgs.delete(org.orgId);
    }
  }

  /** Whether the organization has all that it may have while so many bytes are free. */
  isOverQuota(orgId: string, bytesFree: number): boolean {
    const org = this.#orgs.get(orgId);
    return org !== undefined && org.bytes >= ORG_TO_FREE_RATIO * bytesFree;
  }

  /** Whether that is so of any organization. */
  isAnyOverQuota(bytesFree: number): boolean {
    for (const orgId of this.#orgs.keys()) if (this.isOverQuota(orgId, bytesFree)) return true;
    return false;
  }
}
