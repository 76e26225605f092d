/** What was decided about a response when its head was read. */
import type { BodyMasker } from '../upstream/masking/credential-mask.js';
import type { ResponseHead } from '../upstream/response-headers.js';

/** Changes body bytes on their way to the agent: rewrite, removal of what the caller did not ask for. */
export interface BodyEdit {
  push(chunk: Buffer): Buffer;
  flush(): Buffer;
}

export interface ResponsePlan {
  readonly head: ResponseHead;
  /** In order; null = none. An edit that changes the length of the body sets `lengthChanges`. */
  readonly edits: readonly BodyEdit[] | null;
  readonly changesLength: boolean;
  /** Behind the edits; null where no credential was injected. */
  readonly mask: BodyMasker | null;
  /** How many of the first bytes of the body are kept in `failureHead`; 0 = none. */
  readonly failureBodyPrefixBytes: number;
}
