/** Decisions about a response, made when its head is read. */

import type { Rejection } from '../rejection/rejections.js';
import type { ResponseHead } from '../upstream/filter-response-head.js';
import type { BodyMasker } from '../upstream/masking/credential-mask.js';

/** Edits body bytes on their way to the agent, for example rewrites URLs or removes an added usage event. */
export interface BodyEdit {
  push(chunk: Buffer): Buffer;
  flush(): Buffer;
  /**
   * The upstream has cut the response: returns the last bytes of a response that tells the agent so. Null or absent: the
   * agent's connection breaks instead.
   */
  flushCut?(): Buffer | null;
}

export interface ResponsePlan {
  readonly head: ResponseHead;
  /** Applied in order; null = none. When an edit changes the length of the body, `changesLength` is set. */
  readonly edits: readonly BodyEdit[] | null;
  readonly changesLength: boolean;
  /** Runs after the edits; null when no credential was injected. */
  readonly mask: BodyMasker | null;
  /** Number of first body bytes to keep in `upstreamCall.failureBodyPrefix`; 0 = none. */
  readonly failureBodyPrefixBytes: number;
  /** What the agent gets instead of this response; null: the response. */
  readonly rejection: Rejection | null;
  /** Sent before the body, so that the agent gets the head of a stream that may be silent for long; null = nothing. */
  readonly firstBytes: Buffer | null;
}
