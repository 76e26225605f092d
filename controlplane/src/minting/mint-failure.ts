/** Why an exchange gave no credential: a code for rows, events and clients, with what to do. */

/** For the person who owns the account. */
export const MINT_FAILURES = {
  unreachable: {
    cause: 'The token endpoint cannot be reached.',
    remedy: 'Check the address. The gateway tries again.',
  },
  timeout: {
    cause: 'The token endpoint did not answer within 10 seconds.',
    remedy: 'Check the service. The gateway tries again.',
  },
  egress_denied: {
    cause: 'The address of the token endpoint is in a private network.',
    remedy: 'Use a public address, or have the operator add it to EGRESS_ALLOW_CIDRS.',
  },
  redirect: {
    cause: 'The token endpoint answers with a redirect, which the gateway does not follow.',
    remedy: 'Enter the address to which it redirects.',
  },
  too_large: {
    cause: 'The answer of the token endpoint is larger than 64 KiB.',
    remedy: 'Check that the address is that of the token endpoint.',
  },
  not_json: {
    cause: 'The answer of the token endpoint is not JSON.',
    remedy: 'Check that the address is that of the token endpoint.',
  },
  bad_answer: {
    cause: 'The answer of the token endpoint does not follow the standard.',
    remedy: 'Check that the address is that of the token endpoint.',
  },
  token_type: {
    cause: 'The token endpoint issues tokens of another type than the provider takes.',
    remedy: 'Configure the client for Bearer tokens.',
  },
  bad_token: {
    cause: 'The token is not printable ASCII text of 8 to 8192 characters.',
    remedy: 'Configure the client for shorter tokens.',
  },
  bad_lifetime: {
    cause: 'The token endpoint states no usable lifetime. It must be 60 seconds or more.',
    remedy: 'Configure a longer lifetime for tokens of this client.',
  },
  missing_scope: {
    cause: 'The token lacks a scope that the account requests.',
    remedy: 'Grant the scope to the client, or remove it from the account.',
  },
  invalid_client: {
    cause: 'The token endpoint does not accept the client id, its secret, or the token of the gateway.',
    remedy:
      'Enter the credentials of the account again. Without a secret, compare issuer, subject and audience at the provider with the set-up steps.',
  },
  invalid_grant: {
    cause: 'The grant has expired, or somebody has revoked it.',
    remedy: 'Connect the account again, or enter its credentials again.',
  },
  rejected: {
    cause: 'The token endpoint rejects the request.',
    remedy: 'Look up the error code at the provider.',
  },
  server_error: {
    cause: 'The token endpoint returns a server error.',
    remedy: 'Wait. The gateway tries again.',
  },
  rate_limited: {
    cause: 'The token endpoint limits the rate of requests.',
    remedy: 'Wait. The gateway tries again.',
  },
  not_connected: {
    cause: 'Nobody has connected the account at the provider yet.',
    remedy: 'Connect it on its page.',
  },
  unusable_credentials: {
    cause: 'The account needs its credentials set again.',
    remedy: 'Enter the credentials of the account again.',
  },
} as const;
export type MintFailureCode = keyof typeof MINT_FAILURES;

export class MintFailure extends Error {
  constructor(
    readonly code: MintFailureCode,
    /** Error code of the provider or the network; null: none. Never free text of the provider. */
    readonly detail: string | null = null,
    /** What the provider asks to wait, ms; 0: nothing. */
    readonly retryAfterMs = 0,
  ) {
    super(detail === null ? code : `${code} (${detail})`);
    this.name = 'MintFailure';
  }
}

/** No exchange can succeed until a person acts. */
export const needsPerson = (code: MintFailureCode): boolean => code === 'invalid_grant' || code === 'not_connected';
