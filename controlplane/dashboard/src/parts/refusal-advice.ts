/** What a reason of refusal means and what to do about it, in words for whoever runs the agent. */

import { LIMITS, refusalReason } from '@acg/base/limits';

interface RefusalAdvice {
  readonly what: string;
  readonly todo: string;
}

const ADVICE: Readonly<Record<string, RefusalAdvice>> = {
  not_assigned: {
    what: 'The provider is not assigned to the agent.',
    todo: 'Add it on the agent’s page, under Providers.',
  },
  unknown_provider: {
    what: 'There is no provider of that name.',
    todo: 'Look at the address: /v1/proxy/ and the provider.',
  },
  needs_credentials: {
    what: 'The provider’s credential must be set again.',
    todo: 'Enter it on the agent’s page, under Providers.',
  },
  paused: { what: 'The agent is paused.', todo: 'Resume it on its page.' },
  revoked: { what: 'The agent or its token was revoked.', todo: 'Resume the agent on its page, or make a new token.' },
  ...Object.fromEntries(LIMITS.map((row) => [refusalReason(row), { what: row.what, todo: row.todo }])),
  budget_never_fits: {
    what: 'One call may cost more than the whole hard budget.',
    todo: 'Let the agent ask for fewer output tokens, or raise the budget.',
  },
  budget_in_flight: { what: 'Calls under way hold what is left of the hard budget.', todo: 'It passes as they end.' },
  denied_model: { what: 'The agent’s policy does not allow this model.', todo: 'Change the policy, or the model.' },
  denied_call: { what: 'The agent’s policy does not allow this call.', todo: 'Change the policy, or the call.' },
  denied_sensitive_path: {
    what: 'The call hands out credentials or changes who has access.',
    todo: 'Allow it on the provider account, if you want that.',
  },
  circuit_open: {
    what: 'The provider is failing: calls to it are stopped for a moment.',
    todo: 'They go on by themselves.',
  },
  unauthorized: {
    what: 'The token is missing, unknown, expired or revoked.',
    todo: 'Give the agent a token that is valid.',
  },
  agent_out_of_scope: {
    what: 'The token may not act for the agent that the call names.',
    todo: 'Name another agent in x-gateway-agent, or use a key of a wider scope.',
  },
  bad_request: {
    what: 'The call cannot be understood or forwarded.',
    todo: 'The answer to the agent says what is wrong with it.',
  },
  body_too_large: {
    what: 'The body is too large for its model to be checked.',
    todo: 'Let the agent send less, or take the rule about models out of its policy.',
  },
  egress_refused: {
    what: 'The provider’s address may not be called from here.',
    todo: 'Give your provider another address, or ask whoever runs the gateway to allow it.',
  },
  loop: {
    what: 'A call came back to the gateway: the address of the provider leads here.',
    todo: 'Give your provider its own address.',
  },
  org_inflight: {
    what: 'The organization has too many calls under way.',
    todo: 'It passes as they end; let agents make fewer at once.',
  },
  presigned_over: { what: 'The presigned URL is over.', todo: 'Let the agent make a new one.' },
  websocket: { what: 'This provider does not pass WebSocket connections.', todo: 'Let the agent call it over HTTP.' },
  upstream_unreachable: {
    what: 'The provider could not be reached.',
    todo: 'Look at its status and, for your own, at its address.',
  },
  upstream_timeout: { what: 'The provider did not answer in time.', todo: 'Look at its status.' },
};

export const adviceOf = (reason: string): RefusalAdvice =>
  ADVICE[reason] ?? {
    what: `The gateway refused it: ${reason.replaceAll('_', ' ')}.`,
    todo: 'The answer to the agent says more.',
  };
