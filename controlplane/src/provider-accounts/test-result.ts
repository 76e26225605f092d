/** Whether a test confirms or rejects the credential. Pure. */
import type { MintFailureCode } from '../minting/mint-failure.js';
import type { ProbeResult } from '../providers/credential-probe.js';
import type { TestReply } from './schema.js';

export interface TestResult extends ProbeResult {
  /** Why the provider has no call that tests a credential; null: it has one. */
  readonly untestable: string | null;
  /** What was done, in order; absent: only the call. */
  readonly steps?: TestReply['steps'];
  /** Why no credential was minted. */
  readonly failure?: { readonly code: MintFailureCode; readonly message: string };
  /** The previous credential of a rotation is in use again. */
  readonly isRolledBack?: boolean;
}

/** `unknown`, for example HTTP 429: neither confirms nor rejects the credential, which is tested again later. */
type TestVerdict = 'accepted' | 'rejected' | 'unknown';

/** Failed exchanges that the credential itself caused. Others say something about the token endpoint or the network. */
const REJECTIONS: ReadonlySet<MintFailureCode> = new Set([
  'invalid_client',
  'invalid_grant',
  'missing_scope',
  'rejected',
  'unusable_credentials',
]);

const TOO_MANY_REQUESTS = 429;

export function judgeTest({ status, refused, untestable, failure, steps }: TestResult): TestVerdict {
  if (failure !== undefined) return REJECTIONS.has(failure.code) ? 'rejected' : 'unknown';
  // A provider without a test call: only an exchange says something.
  if (untestable !== null) return steps === undefined ? 'unknown' : 'accepted';
  if (refused) return 'rejected';
  return status === null || status >= 500 || status === TOO_MANY_REQUESTS ? 'unknown' : 'accepted';
}
