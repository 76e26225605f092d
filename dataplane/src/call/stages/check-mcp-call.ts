/**
 * Checks calls to MCP servers. Before the body arrives: origin, session, method. Once it has: the JSON-RPC message, its
 * headers, and what the agent's policy allows.
 */
import type { DynamicShare } from '@acg/base/fairness/dynamic-share';
import { bodyMemoryOf } from '../../concurrency/buffered-body-memory.js';
import { compareMcpHeaders } from '../../mcp/compare-mcp-headers.js';
import { getMcpPolicy } from '../../mcp/mcp-policy.js';
import { openSessionId } from '../../mcp/mcp-session-id.js';
import { isJsonMediaType } from '../../policy/body/body-model-reader.js';
import {
  createMcpMismatchRejection,
  createMcpPolicyRejection,
  createMcpProblemRejection,
  MCP_FOREIGN_ORIGIN,
  MCP_FOREIGN_SESSION,
  MCP_METHOD_REJECTED,
  MCP_RESUME_REJECTED,
  MCP_UNREADABLE_BODY,
} from '../../rejection/mcp-rejections.js';
import { REJECTIONS, type Rejection } from '../../rejection/rejections.js';
import type { GatewayUrlResolver } from '../../response/gateway-url.js';
import type { RoutedExchange } from '../exchange.js';
import { McpCall } from '../mcp-call.js';
import { DONE, NEXT, type RoutedStage } from '../pipeline.js';
import type { AcquireSlot } from './acquire-slot.js';

/** Methods of the transport. */
const TRANSPORT_METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'DELETE']);

interface McpHeadDeps {
  /** Memory that answers may hold while they are read. */
  readonly answerMemory: DynamicShare;
  readonly gatewayUrl: Pick<GatewayUrlResolver, 'resolve'>;
}

/** Checks the head, and sets the reader of the body. */
export function createMcpHeadStage(deps: McpHeadDeps): RoutedStage {
  return (exchange) => {
    if (exchange.routed.upstream.usageFormat !== 'mcp') return NEXT;
    const rejection = checkHead(exchange, deps);
    if (rejection === null) return NEXT;
    exchange.reject(rejection);
    return DONE;
  };
}

function checkHead(exchange: RoutedExchange, { answerMemory, gatewayUrl }: McpHeadDeps): Rejection | null {
  const { method, headers } = exchange.request;
  const { context, upstream } = exchange.routed;
  // A control plane of an earlier release sends no key.
  if (context.mcpSessionKey === '') return REJECTIONS.contextsUnavailable;
  const head = readHead(headers);
  if (head.origin !== null && head.origin !== originOf(gatewayUrl.resolve(exchange))) return MCP_FOREIGN_ORIGIN;
  const sessionId =
    head.session === null ? null : openSessionId(context.mcpSessionKey, upstream.accountId, head.session);
  if (head.hasTwoSessions || (head.session !== null && sessionId === null)) return MCP_FOREIGN_SESSION;
  if (getMcpPolicy(upstream.policy) !== null) {
    if (!TRANSPORT_METHODS.has(method)) return MCP_METHOD_REJECTED;
    if (head.resumes && method === 'GET') return MCP_RESUME_REJECTED;
  }
  if (method === 'POST' && (exchange.body === null || !head.isJson || head.isEncoded)) return MCP_UNREADABLE_BODY;
  exchange.admission.mcp = new McpCall(method, sessionId, bodyMemoryOf(answerMemory, context.orgId));
  return null;
}

function readHead(headers: readonly string[]) {
  const head = {
    origin: null as string | null,
    session: null as string | null,
    hasTwoSessions: false,
    resumes: false,
    isJson: false,
    isEncoded: false,
  };
  let contentTypes = 0;
  for (let i = 0; i < headers.length; i += 2) {
    const value = headers[i + 1]!;
    switch (headers[i]) {
      case 'origin':
        head.origin = head.origin === null ? value : `${head.origin}, ${value}`;
        break;
      case 'mcp-session-id':
        head.hasTwoSessions = head.session !== null;
        head.session = value;
        break;
      case 'last-event-id':
        head.resumes = true;
        break;
      case 'content-encoding':
        head.isEncoded = true;
        break;
      case 'content-type':
        head.isJson = contentTypes++ === 0 && isJsonMediaType(value);
        break;
    }
  }
  return head;
}

/** `scheme://host[:port]` of a URL. */
const originOf = (url: string): string => url.split('/', 3).join('/');

/** Reads the message once the body has arrived, and acquires the slot of a listening stream. */
export function createMcpMessageStage(acquireListeningSlot: AcquireSlot): RoutedStage {
  return (exchange) => {
    const { mcp } = exchange.admission;
    if (mcp === null) return NEXT;
    const rejection =
      (mcp.reader === null ? null : readAndCheckMessage(exchange, mcp)) ??
      (mcp.isListening ? acquireListeningSlot(exchange) : null);
    if (rejection === null) return NEXT;
    exchange.reject(rejection);
    return DONE;
  };
}

function readAndCheckMessage(exchange: RoutedExchange, mcp: McpCall): Rejection | null {
  const body = exchange.body!.peekWhole();
  const message = mcp.reader!.finish(body);
  if ('code' in message) return createMcpProblemRejection(message);
  mcp.message = message;
  mcp.isListening = message.kind === 'request' && message.method === 'subscriptions/listen';
  const rejection = checkMcpPolicy(exchange);
  if (rejection !== null) return rejection;
  const parseArguments = (): unknown => JSON.parse(body.toString('utf8')).params?.arguments;
  const mismatch = compareMcpHeaders(exchange.request.headers, message, parseArguments);
  if (mismatch !== null) return createMcpMismatchRejection(mismatch, message);
  const isCall = message.kind === 'notification' && !message.method.startsWith('notifications/');
  return isCall
    ? createMcpProblemRejection({ code: -32600, message: 'Invalid Request: the id is missing', idText: null })
    : null;
}

/** Null: the agent's policy allows the message. Runs again when a newer context was loaded. */
export function checkMcpPolicy(exchange: RoutedExchange): Rejection | null {
  const { mcp } = exchange.admission;
  const { upstream } = exchange.routed;
  if (mcp === null) return upstream.usageFormat === 'mcp' ? REJECTIONS.contextsUnavailable : null;
  const policy = getMcpPolicy(upstream.policy);
  if (policy === null || mcp.message === null) return null;
  const error = policy.check(mcp.message);
  return error === null ? null : createMcpPolicyRejection(error, mcp.message);
}
