/** What a reason of refusal means and what to do about it, in words for whoever runs the agent. */

import { LIMITS, rejectionReason } from '@acg/base/limits';

interface RejectionAdvice {
  readonly cause: string;
  readonly remedy: string;
}

const ADVICE: Readonly<Record<string, RejectionAdvice>> = {
  not_assigned: {
    cause: 'The provider is not assigned to the agent.',
    remedy: 'Add it on the agent’s page, under Providers.',
  },
  unknown_provider: {
    cause: 'There is no provider of that name.',
    remedy: 'Look at the address: /v1/proxy/ and the provider.',
  },
  needs_credentials: {
    cause: 'The provider’s credential must be set again.',
    remedy: 'Enter it on the agent’s page, under Providers.',
  },
  paused: { cause: 'The agent is paused.', remedy: 'Resume it on its page.' },
  revoked: {
    cause: 'The agent or its token was revoked.',
    remedy: 'Resume the agent on its page, or make a new token.',
  },
  ...Object.fromEntries(LIMITS.map((row) => [rejectionReason(row), { cause: row.cause, remedy: row.remedy }])),
  budget_never_fits: {
    cause: 'One call may cost more than the whole hard budget.',
    remedy: 'Let the agent ask for fewer output tokens, or raise the budget.',
  },
  budget_in_flight: {
    cause: 'Calls under way hold what is left of the hard budget.',
    remedy: 'It passes as they end.',
  },
  denied_model: { cause: 'The agent’s policy does not allow this model.', remedy: 'Change the policy, or the model.' },
  denied_call: { cause: 'The agent’s policy does not allow this call.', remedy: 'Change the policy, or the call.' },
  denied_sensitive_path: {
    cause: 'The call hands out credentials or changes who has access.',
    remedy: 'Allow it on the provider account, if you want that.',
  },
  circuit_open: {
    cause: 'The provider is failing: calls to it are stopped for a moment.',
    remedy: 'They go on by themselves.',
  },
  unauthorized: {
    cause: 'The token is missing, unknown, expired or revoked.',
    remedy: 'Give the agent a token that is valid.',
  },
  agent_out_of_scope: {
    cause: 'The token may not act for the agent that the call names.',
    remedy: 'Name another agent in x-gateway-agent, or use a key of a wider scope.',
  },
  bad_request: {
    cause: 'The call cannot be understood or forwarded.',
    remedy: 'The answer to the agent says what is wrong with it.',
  },
  body_too_large: {
    cause: 'The body is too large for its model to be checked.',
    remedy: 'Let the agent send less, or take the rule about models out of its policy.',
  },
  egress_refused: {
    cause: 'The provider’s address may not be called from here.',
    remedy: 'Give your provider another address, or ask whoever runs the gateway to allow it.',
  },
  loop: {
    cause: 'A call came back to the gateway: the address of the provider leads here.',
    remedy: 'Give your provider its own address.',
  },
  org_inflight: {
    cause: 'The organization has too many calls under way.',
    remedy: 'It passes as they end; let agents make fewer at once.',
  },
  presigned_over: { cause: 'The presigned URL is over.', remedy: 'Let the agent make a new one.' },
  websocket: {
    cause: 'This provider does not pass WebSocket connections.',
    remedy: 'Let the agent call it over HTTP.',
  },
  upstream_unreachable: {
    cause: 'The provider could not be reached.',
    remedy: 'Look at its status and, for your own, at its address.',
  },
  upstream_timeout: { cause: 'The provider did not answer in time.', remedy: 'Look at its status.' },
};

export const rejectionAdvice = (reason: string): RejectionAdvice =>
  ADVICE[reason] ?? {
    cause: `The gateway refused it: ${reason.replaceAll('_', ' ')}.`,
    remedy: 'The answer to the agent says more.',
  };
