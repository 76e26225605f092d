/**
 * Every response of the gateway itself: status line, body and fixed headers, built once at module load
 * (docs/contract.md#responses). Bodies are `{ error, message }` with the same text twice, because some SDKs read only
 * `message`.
 */
import type { RejectionReason } from '@acg/base/rejection-reasons';

export interface Rejection {
  /** Label of metrics and of rejection counts. */
  readonly reason: RejectionReason;
  /** Id of the budget row that rejects the call; absent: no row does, or one without an id. */
  readonly budgetId?: string;
  readonly status: number;
  readonly statusLine: string;
  readonly message: string;
  readonly body: string;
  /** Header pairs in addition to content-type and the request id. */
  readonly headers: readonly string[];
  /** The connection closes after the response, because later bytes on it cannot be trusted to be a request. */
  readonly closesConnection: boolean;
}

const REASON_PHRASES: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  203: 'Non-Authoritative Information',
  204: 'No Content',
  205: 'Reset Content',
  206: 'Partial Content',
  207: 'Multi-Status',
  300: 'Multiple Choices',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  304: 'Not Modified',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  411: 'Length Required',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  417: 'Expectation Failed',
  422: 'Unprocessable Content',
  423: 'Locked',
  424: 'Failed Dependency',
  425: 'Too Early',
  426: 'Upgrade Required',
  428: 'Precondition Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  508: 'Loop Detected',
  529: 'Site Overloaded',
};

const STATUS_LINES: readonly string[] = Array.from(
  { length: 1000 },
  (_, status) => `${status} ${REASON_PHRASES[status] ?? 'Status'}`,
);

/** `200 OK`: a standard reason phrase, because the upstream's own text is not checked. */
export const statusLine = (status: number): string => STATUS_LINES[status] ?? '502 Bad Gateway';

interface RejectionOptions {
  readonly headers?: readonly string[];
  readonly close?: boolean;
  /** The body contains the reason, too, where one status has several. */
  readonly includesReason?: boolean;
}

function createRejection(
  reason: RejectionReason,
  status: number,
  message: string,
  options: RejectionOptions = {},
): Rejection {
  return Object.freeze({
    reason,
    status,
    statusLine: statusLine(status),
    message,
    body: JSON.stringify({ error: message, message, ...(options.includesReason ? { reason } : {}) }),
    headers: Object.freeze([...(options.headers ?? [])]),
    closesConnection: options.close ?? false,
  });
}

const DENIED_CHARS_MAX = 200;

/**
 * 403 for a call that the agent may not make. `value` is the rejected call or model; null where there is none to name.
 */
export function createForbiddenRejection(
  what: 'call' | 'model' | 'sensitive_path' | 'opaque' | 'unmetered',
  value: string | null,
  message: string,
): Rejection {
  const isUnnamed = what !== 'call' && what !== 'model';
  const named = isUnnamed ? {} : { value: value === null ? null : value.slice(0, DENIED_CHARS_MAX) };
  const body = JSON.stringify({ error: message, message, denied: what, ...named });
  const reason = isUnnamed ? what : (`denied_${what}` as const);
  return { reason, status: 403, statusLine: statusLine(403), message, body, headers: [], closesConnection: false };
}

/** 503 while an account has no valid minted credential; `retryAfterS` until the next attempt. */
export const createCredentialRejection = (retryAfterS: number): Rejection => ({
  ...REJECTIONS.credentialRefreshing,
  headers: ['retry-after', String(Math.max(1, retryAfterS))],
});

const createMalformedRejection = (message: string, status = 400, reason: RejectionReason = 'bad_request'): Rejection =>
  createRejection(reason, status, message, { close: true });

/** Tells SDKs that support it not to retry a call that waiting does not fix. */
export const NO_RETRY_HEADERS: readonly string[] = ['x-should-retry', 'false'];
export const RETRY_SOON_HEADERS: readonly string[] = ['retry-after', '1'];

export const REJECTIONS = Object.freeze({
  notFound: createRejection('not_found', 404, 'Not found: agents call /v1/proxy/{provider}/'),
  malformedRequest: createMalformedRejection('The request is malformed.'),
  malformedTarget: createMalformedRejection('The request target is malformed.'),
  methodNotAllowed: createMalformedRejection('This method is not supported.', 405, 'method_not_allowed'),
  targetTooLong: createMalformedRejection('The request target is too long.', 414),
  headersTooLarge: createMalformedRejection('The request header is too large.', 431),
  expectationFailed: createMalformedRejection('Only Expect: 100-continue is supported.', 417),
  unsupportedTransferEncoding: createMalformedRejection('Only Transfer-Encoding: chunked is supported.', 501),
  conflictingTokens: createRejection('bad_request', 400, 'The request contains two different gateway tokens.'),
  invalidTag: createRejection(
    'bad_request',
    400,
    'x-gateway-tag must hold at most 4 tags with different keys: key=value, separated by commas; a key of 1 to 32 characters a-z, 0-9 or _, and a value of 1 to 64 printable ASCII characters without a comma.',
  ),
  tokenInPath: createRejection('bad_request', 400, 'The path contains a gateway token. Send it in a header.'),
  unauthorized: createRejection('unauthorized', 401, 'The gateway token is missing, unknown, expired or revoked.'),
  agentRequired: createRejection(
    'agent_required',
    400,
    'This gateway token serves several agents: name one in the header x-gateway-agent.',
  ),
  agentAmbiguous: createRejection(
    'agent_ambiguous',
    400,
    'Several agents of this scope have the slug in x-gateway-agent: use the id.',
  ),
  agentOutOfScope: createRejection(
    'agent_out_of_scope',
    403,
    'This gateway token is not valid for the requested agent.',
  ),
  paused: createRejection('paused', 403, 'This agent is paused.'),
  revoked: createRejection('revoked', 403, 'This agent is revoked.'),
  unknownProvider: createRejection('unknown_provider', 404, 'There is no such provider.'),
  unknownOrigin: createRejection('unknown_provider', 404, 'The provider account has no origin of this name.'),
  notAssigned: createRejection('not_assigned', 403, 'This provider is not assigned to the agent.'),
  needsCredentials: createRejection(
    'needs_credentials',
    403,
    'The provider credential of this account must be set again.',
  ),
  credentialRefreshing: createRejection(
    'credential_refreshing',
    503,
    'The gateway is obtaining the provider credential of this account. Retry.',
    { headers: RETRY_SOON_HEADERS },
  ),
  contextsUnavailable: createRejection('contexts_unavailable', 503, 'The gateway token cannot be checked right now.', {
    headers: RETRY_SOON_HEADERS,
  }),
  /** The key, agent or account was revoked right after the call was admitted. */
  accessRevoked: createRejection('revoked', 403, 'Access was revoked.'),
  unsupportedContentEncoding: createRejection(
    'bad_request',
    400,
    'The model of a body with content-encoding cannot be checked.',
  ),
  unsupportedMediaType: createRejection(
    'bad_request',
    400,
    'The model of a body of this content type cannot be checked.',
  ),
  unreadableBody: createRejection('bad_request', 400, 'The body does not match its content type.'),
  bodyTooLarge: createRejection('body_too_large', 413, 'The body is too large for its model to be checked.'),
  runBodyTooLarge: createRejection('body_too_large', 413, 'The description of a run is too large.'),
  bodyMemoryFull: createRejection(
    'body_room',
    503,
    'The gateway has no memory to check the model of this body now. Retry.',
    {
      headers: RETRY_SOON_HEADERS,
    },
  ),
  costNotBoundable: createForbiddenRejection(
    'unmetered',
    null,
    'The cost of this call cannot be bounded in advance, which its hard budget requires.',
  ),
  costNotReported: createForbiddenRejection(
    'unmetered',
    null,
    'No response reports the cost of this call, but the agent, its project or its organization has a budget or a limit of tokens per minute.',
  ),
  costUnbounded: createForbiddenRejection(
    'unmetered',
    null,
    'Nothing bounds the cost of this call, which its hard budget requires. Set max_tool_calls, or max_uses of each tool that the provider runs, if the provider keeps to it; stored prompts, background responses, and tools of other servers are rejected.',
  ),
  invalidOutputMaximum: createRejection(
    'bad_request',
    400,
    'The maximum of output tokens and the number of answers must each be given once, as an integer. At most 10 000 tools and 250 000 strings and objects are read.',
  ),
  limitsUnavailable: createRejection('limits_unavailable', 503, 'Limits cannot be checked right now.', {
    headers: RETRY_SOON_HEADERS,
  }),
  sensitivePath: createForbiddenRejection(
    'sensitive_path',
    null,
    'This call hands out credentials or changes who has access.',
  ),
  opaqueCall: createForbiddenRejection(
    'opaque',
    null,
    'The path of this call does not say what it does, so it is rejected unless the provider account allows such calls.',
  ),
  overloaded: createRejection('overload', 503, 'The gateway is busy.', {
    headers: RETRY_SOON_HEADERS,
    includesReason: true,
  }),
  orgConcurrencyExceeded: createRejection('org_inflight', 503, 'The organization has too many calls in flight.', {
    headers: RETRY_SOON_HEADERS,
    includesReason: true,
  }),
  shuttingDown: createRejection('stopping', 503, 'The gateway is stopping.', {
    headers: RETRY_SOON_HEADERS,
    close: true,
  }),
  spoolFull: createRejection('spool_full', 503, 'The gateway cannot record usage right now.', {
    headers: ['retry-after', '5'],
  }),
  websocketUnmetered: createRejection('websocket', 501, 'WebSocket connections to this provider are not supported.'),
  upstreamUnreachable: createRejection('upstream_unreachable', 502, 'The provider could not be reached.'),
  upstreamTimeout: createRejection('upstream_timeout', 504, 'The provider did not answer in time.'),
  egressBlocked: createRejection('egress_refused', 502, 'The address of this provider is not allowed.', {
    headers: NO_RETRY_HEADERS,
  }),
  loopDetected: createRejection(
    'loop',
    508,
    'Loop detected: the base URL of this provider points to the gateway. Set the URL of the provider itself.',
    { headers: NO_RETRY_HEADERS },
  ),
  requestNotForwardable: createRejection('bad_request', 400, 'The request cannot be forwarded to this provider.'),
  presignedUrlExpired: createRejection('presigned_over', 403, 'The presigned URL has expired.'),
  internal: createRejection('internal', 500, 'Internal error.', { close: true }),
});

/** 503 of an open breaker, or of one without a free probe lease. `openUntilMs` 0: retry in a second. */
export function createCircuitOpenRejection(openUntilMs: number, nowMs: number): Rejection {
  const seconds = computeRetryAfterSec(openUntilMs / 1000, nowMs, 3600);
  return createRejection('circuit_open', 503, 'The provider is failing: its circuit breaker is open. Retry later.', {
    headers: ['retry-after', String(seconds)],
  });
}

/** 429 for a client network with too many unknown tokens. */
export function createUnknownTokensRejection(waitSec: number): Rejection {
  const message = 'Too many requests with unknown gateway tokens from this address.';
  const reason = 'unknown_tokens';
  const body = JSON.stringify({ error: message, message, reason });
  const headers = ['retry-after', String(waitSec)];
  return { reason, status: 429, statusLine: statusLine(429), message, body, headers, closesConnection: false };
}

/** Whole seconds from now until `atSec`, at least 1 and at most `secondsMax`. */
export function computeRetryAfterSec(atSec: number, nowMs: number, secondsMax: number): number {
  return Math.min(secondsMax, Math.max(1, Math.ceil(atSec - nowMs / 1000)));
}
