/**
 * Rejections of calls to MCP servers, as JSON-RPC errors with the request's id. A call that the policy does not allow is
 * HTTP 200: on 400 clients would fall back to an older transport, on 401 log in at the gateway, on 404 open a session.
 */
import type { RejectionReason } from '@acg/base/rejection-reasons';
import type { McpHeaderMismatch } from '../mcp/compare-mcp-headers.js';
import type { McpMessage, McpProblem } from '../mcp/mcp-message-reader.js';
import type { McpPolicyError } from '../mcp/mcp-policy.js';
import { NO_RETRY_HEADERS, type Rejection, statusLine } from './rejections.js';

/** JSON-RPC error code of the MCP specification: headers and body disagree. */
const HEADER_MISMATCH = -32020;
const INVALID_PARAMS = -32602;
const INVALID_REQUEST = -32600;
const INTERNAL_ERROR = -32603;
/** Code of the SDK servers for a session that they do not know. */
const SESSION_NOT_FOUND = -32001;

/** `idText`: JSON of the request's id; null: not known. */
const formatJsonRpcError = (code: number, message: string, idText: string | null): string =>
  `{"jsonrpc":"2.0","id":${idText ?? 'null'},"error":{"code":${code},"message":${JSON.stringify(message)}}}`;

function createMcpRejection(
  reason: RejectionReason,
  status: number,
  code: number,
  message: string,
  idText: string | null,
  headers: readonly string[] = [],
): Rejection {
  const body = formatJsonRpcError(code, message, idText);
  return { reason, status, statusLine: statusLine(status), message, body, headers, closesConnection: false };
}

export function createMcpPolicyRejection({ code, message }: McpPolicyError, { kind, idText }: McpMessage): Rejection {
  if (kind === 'request') return createMcpRejection('denied_tool', 200, code, message, idText);
  return { ...createMcpRejection('denied_tool', 202, code, message, null), body: '' };
}

export function createMcpMismatchRejection({ message, isModern }: McpHeaderMismatch, from: McpMessage): Rejection {
  if (isModern) return createMcpRejection('bad_request', 400, HEADER_MISMATCH, message, from.idText);
  return createMcpPolicyRejection({ code: INVALID_PARAMS, message }, from);
}

export const createMcpProblemRejection = ({ code, message, idText }: McpProblem): Rejection =>
  createMcpRejection('bad_request', 400, code, message, idText);

export const createMcpBodyTooLargeRejection = (idText: string | null): Rejection =>
  createMcpRejection('body_too_large', 413, INVALID_REQUEST, 'Invalid Request: the body is too large', idText);

/** The body cannot be read: no body, another media type, or compressed. */
export const MCP_UNREADABLE_BODY = createMcpRejection(
  'bad_request',
  400,
  INVALID_REQUEST,
  'Invalid Request: the body must be JSON (content-type: application/json) without content-encoding',
  null,
);

export const MCP_FOREIGN_ORIGIN = createMcpRejection(
  'bad_request',
  403,
  INVALID_REQUEST,
  'Invalid Request: pages of other origins may not call MCP servers through the gateway',
  null,
);

export const MCP_FOREIGN_SESSION = createMcpRejection('bad_request', 404, SESSION_NOT_FOUND, 'Session not found', null);

/** A resumed stream could bring the answers to another agent's requests, which the policy has not filtered. */
export const MCP_RESUME_REJECTED = createMcpRejection(
  'denied_tool',
  405,
  INVALID_REQUEST,
  'Invalid Request: streams cannot be resumed where a policy applies',
  null,
  ['allow', 'GET, POST, DELETE'],
);

export const MCP_METHOD_REJECTED = createMcpRejection(
  'denied_tool',
  405,
  INVALID_REQUEST,
  'Invalid Request: only GET, POST and DELETE are allowed where a policy applies',
  null,
  ['allow', 'GET, POST, DELETE', ...NO_RETRY_HEADERS],
);

/** The server is away or does not answer: the same status and reason, with the id of the request that waits. */
export const toMcpFailure = (rejection: Rejection, idText: string | null): Rejection => ({
  ...rejection,
  body: formatJsonRpcError(INTERNAL_ERROR, rejection.message, idText),
});

/** The answer of the server cannot be passed on. */
export const formatUnusableAnswerError = (why: string, idText: string | null): string =>
  formatJsonRpcError(INTERNAL_ERROR, `The MCP server's answer cannot be used: ${why}`, idText);
