/**
 * Every answer that is the gateway's own: status line, body and fixed headers, built once at module load
 * (docs/contract.md#answers). Bodies are `{ error, message }`, the same text twice, because some SDKs read only
 * `message`.
 */

export interface Rejection {
  /** Label of metrics and of the rejection tally. */
  readonly reason: string;
  readonly status: number;
  readonly statusLine: string;
  readonly message: string;
  readonly body: string;
  /** Header pairs beside content-type and the request id. */
  readonly headers: readonly string[];
  /** The connection ends after the answer: what follows on it cannot be trusted to be a request. */
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

/** `200 OK`: a standard reason phrase, since the upstream's own text is not checked. */
export const statusLine = (status: number): string => STATUS_LINES[status] ?? '502 Bad Gateway';

interface RejectionOptions {
  readonly headers?: readonly string[];
  readonly close?: boolean;
  /** The reason stands in the body too, where one status has several. */
  readonly includesReason?: boolean;
}

function createRejection(reason: string, status: number, message: string, options: RejectionOptions = {}): Rejection {
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

/** 403 of what an agent may not do; `value` is what it asked for, null where there is nothing to name. */
export function createForbiddenRejection(
  what: 'call' | 'model' | 'sensitive_path' | 'unmetered',
  value: string | null,
  message: string,
): Rejection {
  const isUnnamed = what === 'sensitive_path' || what === 'unmetered';
  const named = isUnnamed ? {} : { value: value === null ? null : value.slice(0, DENIED_CHARS_MAX) };
  const body = JSON.stringify({ error: message, message, denied: what, ...named });
  const reason = isUnnamed ? what : `denied_${what}`;
  return { reason, status: 403, statusLine: statusLine(403), message, body, headers: [], closesConnection: false };
}

const createMalformedRejection = (message: string, status = 400, reason = 'bad_request'): Rejection =>
  createRejection(reason, status, message, { close: true });

/** SDKs that honour it do not retry what cannot succeed by waiting a moment. */
export const NO_RETRY_HEADERS: readonly string[] = ['x-should-retry', 'false'];
export const RETRY_SOON_HEADERS: readonly string[] = ['retry-after', '1'];

export const REJECTIONS = Object.freeze({
  notFound: createRejection('not_found', 404, 'Nothing is served here: agents call /v1/proxy/{provider}/'),
  malformedRequest: createMalformedRejection('The request is malformed.'),
  malformedTarget: createMalformedRejection('The request target is malformed.'),
  methodNotAllowed: createMalformedRejection('This method is not served.', 405, 'method_not_allowed'),
  targetTooLong: createMalformedRejection('The request target is too long.', 414),
  headersTooLarge: createMalformedRejection('The request header is too large.', 431),
  expectationFailed: createMalformedRejection('Only Expect: 100-continue is understood.', 417),
  unsupportedTransferEncoding: createMalformedRejection('Only Transfer-Encoding: chunked is understood.', 501),
  conflictingTokens: createRejection('bad_request', 400, 'The request carries two different gateway tokens.'),
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
  agentOutOfScope: createRejection('agent_out_of_scope', 403, 'This gateway token may not act for the agent it names.'),
  paused: createRejection('paused', 403, 'This agent is paused.'),
  revoked: createRejection('revoked', 403, 'This agent is revoked.'),
  unknownProvider: createRejection('unknown_provider', 404, 'There is no such provider.'),
  notAssigned: createRejection('not_assigned', 403, 'This provider is not assigned to the agent.'),
  needsCredentials: createRejection(
    'needs_credentials',
    403,
    'The account of this provider needs its credentials set again.',
  ),
  contextsUnavailable: createRejection('contexts_unavailable', 503, 'The gateway token cannot be checked right now.', {
    headers: RETRY_SOON_HEADERS,
  }),
  /** The key, agent or account of a call that had just been let in. */
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
  unreadableBody: createRejection('bad_request', 400, 'The body is not what its content type says.'),
  bodyTooLarge: createRejection('body_too_large', 413, 'The body is too large for its model to be checked.'),
  bodyMemoryFull: createRejection('body_room', 503, 'There is no room to check the model of this body right now.', {
    headers: RETRY_SOON_HEADERS,
  }),
  costNotBoundable: createForbiddenRejection(
    'unmetered',
    null,
    'What this call costs cannot be bounded before it is made: its budget is a hard one.',
  ),
  costNotReported: createForbiddenRejection(
    'unmetered',
    null,
    'No answer states what this call costs, and the agent, its project or its organization has a budget or a limit of tokens per minute.',
  ),
  costUnbounded: createForbiddenRejection(
    'unmetered',
    null,
    'Nothing bounds what this call costs, and its budget is a hard one. State max_tool_calls, or max_uses of each tool that the provider runs; stored prompts, background answers, and tools of other servers are refused.',
  ),
  invalidOutputMaximum: createRejection(
    'bad_request',
    400,
    'The maximum of output tokens, and the number of answers, must be given once, as an integer; at most 10 000 tools, and 250 000 strings and objects, are read.',
  ),
  limitsUnavailable: createRejection('limits_unavailable', 503, 'Limits cannot be checked right now.', {
    headers: RETRY_SOON_HEADERS,
  }),
  sensitivePath: createForbiddenRejection(
    'sensitive_path',
    null,
    'This call hands out credentials or changes who has access.',
  ),
  overloaded: createRejection('overload', 503, 'The gateway is busy.', {
    headers: RETRY_SOON_HEADERS,
    includesReason: true,
  }),
  orgConcurrencyExceeded: createRejection('org_inflight', 503, 'The organization has too many calls under way.', {
    headers: RETRY_SOON_HEADERS,
    includesReason: true,
  }),
  shuttingDown: createRejection('stopping', 503, 'The gateway is stopping.', {
    headers: RETRY_SOON_HEADERS,
    close: true,
  }),
  spoolFull: createRejection('spool_full', 503, 'The gateway cannot book usage right now.', {
    headers: ['retry-after', '5'],
  }),
  websocketUnmetered: createRejection('websocket', 501, 'This provider does not pass WebSocket connections.'),
  upstreamUnreachable: createRejection('upstream_unreachable', 502, 'The provider could not be reached.'),
  upstreamTimeout: createRejection('upstream_timeout', 504, 'The provider did not answer in time.'),
  egressBlocked: createRejection('egress_refused', 502, 'The address of this provider is not allowed.', {
    headers: NO_RETRY_HEADERS,
  }),
  loopDetected: createRejection(
    'loop',
    508,
    'This call came back to the gateway: the address of the provider leads here. Set its own address.',
    { headers: NO_RETRY_HEADERS },
  ),
  requestNotForwardable: createRejection('bad_request', 400, 'The request cannot be forwarded to this provider.'),
  presignedUrlExpired: createRejection('presigned_over', 403, 'The presigned URL is over.'),
  internal: createRejection('internal', 500, 'Internal error.', { close: true }),
});

/** 503 of a circuit that is open, or whose probe places are taken. `openUntilMs` 0: try again in a second. */
export function createCircuitOpenRejection(openUntilMs: number, nowMs: number): Rejection {
  const seconds = computeRetryAfterSec(openUntilMs / 1000, nowMs, 3600);
  return createRejection('circuit_open', 503, 'The provider is failing: calls to it are stopped for a moment.', {
    headers: ['retry-after', String(seconds)],
  });
}

/** 429 of an address that asked about too many tokens that do not exist. */
export function createUnknownTokensRejection(waitSec: number): Rejection {
  const message = 'Too many unknown gateway tokens came from this address.';
  const reason = 'unknown_tokens';
  const body = JSON.stringify({ error: message, message, reason });
  const headers = ['retry-after', String(waitSec)];
  return { reason, status: 429, statusLine: statusLine(429), message, body, headers, closesConnection: false };
}

/** Whole seconds from now, at least 1 and at most `secondsMax`. */
export function computeRetryAfterSec(atSec: number, nowMs: number, secondsMax: number): number {
  return Math.min(secondsMax, Math.max(1, Math.ceil(atSec - nowMs / 1000)));
}
