/**
 * Decides how the answer of an MCP server reaches the agent. Signs its session id, reduces its lists, and replaces an
 * answer that asks the agent to log in. Streams that wait for events have no timeout.
 */
import type { RoutedExchange } from '../call/exchange.js';
import type { McpCall } from '../call/mcp-call.js';
import type { BodyEdit, ResponsePlan } from '../call/response-plan-types.js';
import { getMcpPolicy, type McpListFilter } from '../mcp/mcp-policy.js';
import { signSessionId } from '../mcp/mcp-session-id.js';
import { REJECTIONS } from '../rejection/rejections.js';
import type { ResponseHead } from '../upstream/filter-response-head.js';
import { EventAnswerEdit, JsonAnswerEdit, UnreadableAnswerEdit } from './mcp-answer-edits.js';

interface McpAnswerPlan extends Pick<ResponsePlan, 'rejection' | 'firstBytes'> {
  readonly edit: BodyEdit | null;
}

export const NO_MCP_PLAN: McpAnswerPlan = Object.freeze({ edit: null, rejection: null, firstBytes: null });
const LOGIN_NEEDED: McpAnswerPlan = Object.freeze({ ...NO_MCP_PLAN, rejection: REJECTIONS.needsCredentials });
/** A comment of an event stream: clients ignore it. */
const COMMENT = Buffer.from(':\n\n');

/**
 * Changes session id and content type in `head`, and removes what sends the agent past the gateway: a login, and a
 * redirect to another host. `resolveGatewayUrl`: where the agent has reached the gateway.
 */
export function planMcpAnswer(
  exchange: RoutedExchange,
  status: number,
  head: ResponseHead,
  resolveGatewayUrl: () => string,
): McpAnswerPlan {
  if (status === 401 || (status === 403 && head.headers.includes('www-authenticate'))) return LOGIN_NEEDED;
  const call = exchange.admission.mcp!;
  replaceHeader(head, 'www-authenticate', null);
  const location = findHeader(head, 'location');
  if (location >= 0 && !staysAtGateway(String(head.headers[location + 1]), resolveGatewayUrl()))
    replaceHeader(head, 'location', null);
  signSessionHeader(exchange, head);
  if (status < 200 || status > 299 || status === 204) return NO_MCP_PLAN;
  const isStream = head.mediaType === 'text/event-stream';
  const isListening = isStream && call.isListening;
  if (isListening) exchange.upstreamCall.connection!.allowSilence();
  return {
    edit: createEdit(call, findFilter(exchange, call), head, isStream),
    rejection: null,
    firstBytes: isListening && head.contentEncoding === '' ? COMMENT : null,
  };
}

/** URLs of the server's own host were rewritten to the gateway's. Clients read `\\` as a slash. */
const staysAtGateway = (location: string, gatewayUrl: string): boolean =>
  location.startsWith(`${originOf(gatewayUrl)}/`) || /^\/(?![/\\])/.test(location);

/** `scheme://host[:port]`. */
const originOf = (url: string): string => url.split('/', 3).join('/');

/** What the answer's lists are reduced to; null: they pass. */
function findFilter({ request, routed: { upstream } }: RoutedExchange, { message }: McpCall): McpListFilter | null {
  const policy = getMcpPolicy(upstream.policy);
  if (policy === null) return null;
  if (message === null) return request.method === 'GET' ? policy.streamFilter : null;
  return policy.listFilter(message.method);
}

function createEdit(
  call: McpCall,
  filter: McpListFilter | null,
  head: ResponseHead,
  isStream: boolean,
): BodyEdit | null {
  const { message, answerMemory } = call;
  // A listening stream has no answer: it lasts until one side ends it.
  const idText = message?.kind === 'request' && !call.isListening ? message.idText : null;
  const expected = { idText, filter };
  if (head.contentEncoding === '' && (filter !== null || idText !== null)) {
    if (isStream) return new EventAnswerEdit(expected, answerMemory);
    if (/^application\/(?:[^/]*\+)?json$/.test(head.mediaType)) return new JsonAnswerEdit(expected, answerMemory);
  }
  if (filter === null || (message === null && head.contentEncoding === '')) return null;
  replaceHeader(head, 'content-encoding', null);
  replaceHeader(head, 'content-type', 'application/json');
  return new UnreadableAnswerEdit(idText);
}

/** An id that the gateway cannot sign is left out, so the agent has no session. */
function signSessionHeader({ routed: { context, upstream } }: RoutedExchange, head: ResponseHead): void {
  const at = findHeader(head, 'mcp-session-id');
  if (at < 0) return;
  const id = String(head.headers[at + 1]);
  replaceHeader(head, 'mcp-session-id', signSessionId(context.mcpSessionKey, upstream.accountId, id));
}

/** Sets the only header of the name; null removes it. */
function replaceHeader(head: ResponseHead, name: string, value: string | null): void {
  for (let at = findHeader(head, name); at >= 0; at = findHeader(head, name)) head.headers.splice(at, 2);
  if (value !== null) head.headers.push(name, value);
}

function findHeader({ headers }: ResponseHead, name: string): number {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return i;
  return -1;
}
