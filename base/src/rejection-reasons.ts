/**
 * Every reason for which the gateway itself rejects a call: label of `gateway_rejections_total` and of the rejection
 * counts in the API. Both planes, the command line and the dashboard take the reasons from here, and a reason without
 * its texts does not compile. Runs in browsers, too, so it imports only the limits.
 */
import { LIMITS, type LimitRejectionReason, rejectionReason } from './limit-definitions.js';

/** For the person who runs the agent: what happened, and what to do. */
interface RejectionAdvice {
  readonly cause: string;
  readonly remedy: string;
  /** The gateway or the provider caused it: abuse detection does not count it against the agent. */
  readonly notCausedByAgent?: true;
}

const OWN_REASONS = {
  not_found: {
    cause: 'The path is not one that agents call.',
    remedy: 'Check the URL: /v1/proxy/, then the provider’s slug.',
  },
  bad_request: {
    cause: 'The call cannot be understood or forwarded.',
    remedy: 'The response to the agent says what is wrong.',
  },
  method_not_allowed: { cause: 'The gateway does not support the HTTP method.', remedy: 'Use another method.' },
  unauthorized: {
    cause: 'The token is missing, unknown, expired or revoked.',
    remedy: 'Give the agent a valid gateway token.',
  },
  unknown_tokens: {
    cause: 'Too many calls with unknown tokens came from one network.',
    remedy: 'Give the agent a valid gateway token.',
  },
  agent_required: {
    cause: 'The token serves several agents, and the call names none.',
    remedy: 'Name the agent in x-gateway-agent.',
  },
  agent_ambiguous: {
    cause: 'Several agents of the token’s scope have the slug that the call names.',
    remedy: 'Name the agent by its id in x-gateway-agent.',
  },
  agent_out_of_scope: {
    cause: 'The token’s scope does not include the agent that the call names.',
    remedy: 'Name another agent in x-gateway-agent, or use a token with a wider scope.',
  },
  paused: { cause: 'The agent is paused.', remedy: 'Resume it on the agent’s page.' },
  revoked: {
    cause: 'The agent or its token was revoked.',
    remedy: 'Resume the agent on its page, or create a new token.',
  },
  unknown_provider: {
    cause: 'No provider has this name.',
    remedy: 'Check the URL: /v1/proxy/, then the provider’s slug.',
  },
  not_assigned: {
    cause: 'The provider is not assigned to the agent.',
    remedy: 'Add it in the agent’s Providers tab.',
  },
  needs_credentials: {
    cause: 'The provider’s credential must be entered again.',
    remedy: 'Enter it in the agent’s Providers tab.',
    notCausedByAgent: true,
  },
  credential_refreshing: {
    cause: 'The gateway had no valid credential of the account, which it mints itself.',
    remedy: 'Retry. If it lasts, the account’s page names the cause.',
    notCausedByAgent: true,
  },
  sensitive_path: {
    cause: 'The call can expose credentials or change access rights.',
    remedy: 'If this is intended, allow it for the agent’s provider account.',
  },
  opaque: {
    cause: 'The path of the call does not say what the call does, such as GraphQL.',
    remedy: 'If this is intended, allow it for the agent’s provider account.',
  },
  denied_call: { cause: 'The agent’s policy does not allow this call.', remedy: 'Change the policy or the call.' },
  denied_model: { cause: 'The agent’s policy does not allow this model.', remedy: 'Change the policy or the model.' },
  denied_tool: {
    cause: 'The agent’s policy does not allow this tool, resource or prompt of the MCP server.',
    remedy: 'Change the policy or the call.',
  },
  rpm_tool: {
    cause: 'More requests per minute than the limit for this tool of the MCP server.',
    remedy: 'Raise it in the agent’s policy (toolLimits), or let the agent wait as Retry-After says.',
  },
  unmetered: {
    cause: 'A budget or a limit of tokens applies, and nothing reports the cost of the call, or bounds it.',
    remedy: 'The response to the agent says what is wrong.',
  },
  budget_never_fits: {
    cause: 'A single call could cost more than the whole hard budget.',
    remedy: 'Lower the agent’s maximum output tokens, or raise the budget.',
  },
  budget_in_flight: {
    cause: 'Calls in progress have reserved the rest of the hard budget.',
    remedy: 'Wait until they finish; unused reservations are released.',
  },
  body_too_large: {
    cause: 'The body is too large to check its model.',
    remedy: 'Send a smaller body, or remove the model rule from the agent’s policy.',
  },
  body_room: {
    cause: 'The gateway has no memory left to check the model of the body.',
    remedy: 'Retry.',
  },
  presigned_over: { cause: 'The presigned URL has expired.', remedy: 'Create a new one.' },
  websocket: { cause: 'WebSocket connections are not supported for this provider.', remedy: 'Call it over HTTP.' },
  org_inflight: {
    cause: 'The organization has too many calls in progress.',
    remedy: 'Wait until calls finish, or make fewer calls at once.',
  },
  overload: { cause: 'The gateway has too many calls in progress.', remedy: 'Retry.', notCausedByAgent: true },
  stopping: { cause: 'The gateway was stopping.', remedy: 'Retry.', notCausedByAgent: true },
  contexts_unavailable: {
    cause: 'The gateway could not check the token.',
    remedy: 'Retry.',
    notCausedByAgent: true,
  },
  limits_unavailable: {
    cause: 'The gateway could not check the limits.',
    remedy: 'Retry.',
    notCausedByAgent: true,
  },
  spool_full: {
    cause: 'The gateway could not record usage.',
    remedy: 'Retry.',
    notCausedByAgent: true,
  },
  circuit_open: {
    cause: 'The provider is failing, so its breaker blocks calls for a short time.',
    remedy: 'Calls resume automatically.',
    notCausedByAgent: true,
  },
  egress_refused: {
    cause: 'The gateway is not allowed to call the provider’s address.',
    remedy: 'Change the provider’s address, or ask the gateway’s operator to allow it.',
    notCausedByAgent: true,
  },
  loop: {
    cause: 'The call came back to the gateway: the provider’s address points to the gateway itself.',
    remedy: 'Change the provider’s address.',
  },
  upstream_unreachable: {
    cause: 'The provider could not be reached.',
    remedy: 'Check the provider’s status and, for a custom provider, its address.',
    notCausedByAgent: true,
  },
  upgrade_refused: {
    cause: 'The provider rejected the WebSocket connection.',
    remedy: 'The response to the agent contains the provider’s answer.',
  },
  upstream_timeout: {
    cause: 'The provider did not respond in time.',
    remedy: 'Check the provider’s status.',
    notCausedByAgent: true,
  },
  internal: {
    cause: 'The gateway failed.',
    remedy: 'Retry.',
    notCausedByAgent: true,
  },
} as const satisfies Readonly<Record<string, RejectionAdvice>>;

export type RejectionReason = keyof typeof OWN_REASONS | LimitRejectionReason;

const LIMIT_REASONS = Object.fromEntries(
  LIMITS.map((row) => [rejectionReason(row), { cause: row.cause, remedy: row.remedy }]),
) as Readonly<Record<LimitRejectionReason, RejectionAdvice>>;

export const REJECTION_ADVICE: Readonly<Record<RejectionReason, RejectionAdvice>> = {
  ...OWN_REASONS,
  ...LIMIT_REASONS,
};

/** Whether abuse detection counts it against the agent. Counts a reason of another release that is not listed. */
export const countsAsAbuse = (reason: string): boolean =>
  !Object.hasOwn(REJECTION_ADVICE, reason) || !REJECTION_ADVICE[reason as RejectionReason].notCausedByAgent;

/** Advice on a reason that the API reports. A data plane of another release may have counted one that is not listed. */
export const rejectionAdvice = (reason: string): RejectionAdvice =>
  Object.hasOwn(REJECTION_ADVICE, reason)
    ? REJECTION_ADVICE[reason as RejectionReason]
    : {
        cause: `The gateway rejected the call: ${reason.replaceAll('_', ' ')}.`,
        remedy: 'The response to the agent has the details.',
      };
