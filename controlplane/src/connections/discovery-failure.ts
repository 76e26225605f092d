/** Why discovery failed, for the person who connects the account. Holds nothing that a server sent but addresses. */
import type { MintFailureCode } from '../minting/mint-failure.js';

export class DiscoveryFailure extends Error {
  override readonly name = 'DiscoveryFailure';
}

const CAUSES: Partial<Record<MintFailureCode, string>> = {
  timeout: 'did not answer within 10 seconds',
  egress_denied: 'is in a private network: use a public address, or have the operator add it to EGRESS_ALLOW_CIDRS',
  redirect: 'answers with a redirect, which the gateway does not follow',
  too_large: 'answers with more than 64 KiB',
  not_json: 'does not answer with JSON',
  rate_limited: 'limits the rate of requests: try again later',
  server_error: 'answers with a server error',
};

export const describeCause = (code: MintFailureCode): string => CAUSES[code] ?? 'cannot be reached';
