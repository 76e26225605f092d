/** Explains rejection reasons and what to do about them, for operators of agents. */

import { LIMITS, rejectionReason } from '@acg/base/limits';

interface RejectionAdvice {
  readonly cause: string;
  readonly remedy: string;
}

const ADVICE: Readonly<Record<string, RejectionAdvice>> = {
  not_assigned: {
    cause: 'The provider is not assigned to the agent.',
    remedy: 'Add it in the agent’s Providers tab.',
  },
  unknown_provider: {
    cause: 'No provider has this name.',
    remedy: 'Check the URL: /v1/proxy/, then the provider’s slug.',
  },
  needs_credentials: {
    cause: 'The provider’s credential must be entered again.',
    remedy: 'Enter it in the agent’s Providers tab.',
  },
  paused: { cause: 'The agent is paused.', remedy: 'Resume it on the agent’s page.' },
  revoked: {
    cause: 'The agent or its token was revoked.',
    remedy: 'Resume the agent on its page, or create a new token.',
  },
  ...Object.fromEntries(
    LIMITS.map((row): [string, RejectionAdvice] => [rejectionReason(row), { cause: row.cause, remedy: row.remedy }]),
  ),
  budget_never_fits: {
    cause: 'A single call could cost more than the whole hard budget.',
    remedy: 'Lower the agent’s maximum output tokens, or raise the budget.',
  },
  budget_in_flight: {
    cause: 'Calls in progress have reserved the rest of the hard budget.',
    remedy: 'Wait until they finish; unused reservations are released.',
  },
  denied_model: { cause: 'The agent’s policy does not allow this model.', remedy: 'Change the policy or the model.' },
  denied_call: { cause: 'The agent’s policy does not allow this call.', remedy: 'Change the policy or the call.' },
  denied_sensitive_path: {
    cause: 'The call can expose credentials or change access rights.',
    remedy: 'If this is intended, allow it for the agent’s provider account.',
  },
  circuit_open: {
    cause: 'The provider is failing, so its breaker blocks calls for a short time.',
    remedy: 'Calls resume automatically.',
  },
  unauthorized: {
    cause: 'The token is missing, unknown, expired or revoked.',
    remedy: 'Give the agent a valid gateway token.',
  },
  agent_out_of_scope: {
    cause: 'The token’s scope does not include the agent that the call names.',
    remedy: 'Name another agent in x-gateway-agent, or use a token with a wider scope.',
  },
  bad_request: {
    cause: 'The call cannot be understood or forwarded.',
    remedy: 'The response to the agent says what is wrong.',
  },
  body_too_large: {
    cause: 'The body is too large to check its model.',
    remedy: 'Send a smaller body, or remove the model rule from the agent’s policy.',
  },
  egress_refused: {
    cause: 'The gateway is not allowed to call the provider’s address.',
    remedy: 'Change the provider’s address, or ask the gateway’s operator to allow it.',
  },
  loop: {
    cause: 'The call came back to the gateway: the provider’s address points to the gateway itself.',
    remedy: 'Change the provider’s address.',
  },
  org_inflight: {
    cause: 'The organization has too many calls in progress.',
    remedy: 'Wait until calls finish, or make fewer calls at once.',
  },
  presigned_over: { cause: 'The presigned URL has expired.', remedy: 'Create a new one.' },
  websocket: {
    cause: 'WebSocket connections are not supported for this provider.',
    remedy: 'Call it over HTTP.',
  },
  upstream_unreachable: {
    cause: 'The provider could not be reached.',
    remedy: 'Check the provider’s status and, for a custom provider, its address.',
  },
  upstream_timeout: { cause: 'The provider did not respond in time.', remedy: 'Check the provider’s status.' },
};

export const rejectionAdvice = (reason: string): RejectionAdvice =>
  ADVICE[reason] ?? {
    cause: `The gateway rejected the call: ${reason.replaceAll('_', ' ')}.`,
    remedy: 'The response to the agent has the details.',
  };
