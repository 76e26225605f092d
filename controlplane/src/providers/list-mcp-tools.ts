/**
 * Lists the tools of an MCP server: asks as specification 2026-07-28 says, else opens a session as earlier ones do. The
 * server is hostile: bytes, pages, tools and texts are bounded, redirects are not followed, schemas are not compiled.
 */
import { createParser } from 'eventsource-parser';
import type { MaskText } from './mask-echoed-secrets.js';

interface McpTool {
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  /** The server's own claims, which no one has checked; null: none. */
  readonly readOnly: boolean | null;
  readonly destructive: boolean | null;
}

export interface McpToolList {
  readonly tools: readonly McpTool[];
  /** The server has more than these. */
  readonly truncated: boolean;
}

/** One response; its body must be read or destroyed. */
export interface McpResponse {
  readonly status: number;
  readonly contentType: string;
  readonly sessionId: string | null;
  readonly body: AsyncIterable<Buffer>;
}

/** Sends one request with the credential. */
export type SendToMcpServer = (
  method: 'POST' | 'DELETE',
  headers: Readonly<Record<string, string>>,
  body: string,
) => Promise<McpResponse>;

/** Says why the tools cannot be listed, for the person who reads it. */
export class McpListFailure extends Error {
  override readonly name = 'McpListFailure';

  constructor(
    message: string,
    /** HTTP status of the server; null: it has answered otherwise. */
    readonly status: number | null = null,
  ) {
    super(message);
  }
}

const MODERN_VERSION = '2026-07-28';
const LEGACY_VERSION = '2025-11-25';
const CLIENT_INFO = { name: 'agent-credential-gateway', version: '1' };
const TOOLS_MAX = 500;
const PAGES_MAX = 20;
const BYTES_MAX = 2 * 1024 * 1024;
const NAME_CHARS_MAX = 256;
const TITLE_CHARS_MAX = 200;
const DESCRIPTION_CHARS_MAX = 1_000;
const MESSAGE_CHARS_MAX = 200;
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/;

type Json = Record<string, unknown>;

/**
 * Throws {@link McpListFailure}, and what `send` throws. `mask`: of the credential, which viewers must not read although
 * a server quotes it in a text or an error.
 */
export async function listMcpTools(send: SendToMcpServer, mask: MaskText): Promise<McpToolList> {
  const budget = { bytes: BYTES_MAX };
  const meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN_VERSION,
    'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const modern = new McpConversation(send, mask, budget, { 'mcp-protocol-version': MODERN_VERSION }, meta);
  try {
    return await listPages(modern);
  } catch (error) {
    if (!(error instanceof McpListFailure) || error.status === 401 || error.status === 403) throw error;
  }
  const legacy = new McpConversation(send, mask, budget, {}, null);
  await legacy.open();
  try {
    return await listPages(legacy);
  } finally {
    await legacy.close();
  }
}

async function listPages(conversation: McpConversation): Promise<McpToolList> {
  const tools: McpTool[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page++) {
    const result: Json = await conversation.request('tools/list', cursor === null ? {} : { cursor });
    if (!Array.isArray(result.tools)) throw new McpListFailure('The server’s list of tools cannot be read.');
    tools.push(...result.tools.flatMap((tool: unknown) => readTool(tool) ?? []));
    cursor = typeof result.nextCursor === 'string' && result.nextCursor !== '' ? result.nextCursor : null;
    if (cursor === null || tools.length > TOOLS_MAX) break;
  }
  return { tools: tools.slice(0, TOOLS_MAX), truncated: cursor !== null || tools.length > TOOLS_MAX };
}

/** Null: no tool that a policy could name. */
function readTool(tool: unknown): McpTool | null {
  if (!isObject(tool) || typeof tool.name !== 'string' || tool.name === '' || tool.name.length > NAME_CHARS_MAX)
    return null;
  const annotations = isObject(tool.annotations) ? tool.annotations : {};
  return {
    name: tool.name,
    title: readText(tool.title ?? annotations.title, TITLE_CHARS_MAX),
    description: readText(tool.description, DESCRIPTION_CHARS_MAX),
    readOnly: readFlag(annotations.readOnlyHint),
    destructive: readFlag(annotations.destructiveHint),
  };
}

const readFlag = (value: unknown): boolean | null => (typeof value === 'boolean' ? value : null);
const readText = (value: unknown, charsMax: number): string | null =>
  typeof value === 'string' && value !== '' ? value.slice(0, charsMax) : null;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Requests of one client in one version. */
class McpConversation {
  #sessionId: string | null = null;
  #lastId = 0;
  #headers: Readonly<Record<string, string>>;

  constructor(
    readonly send: SendToMcpServer,
    readonly mask: MaskText,
    readonly budget: { bytes: number },
    headers: Readonly<Record<string, string>>,
    readonly meta: Json | null,
  ) {
    this.#headers = headers;
  }

  async open(): Promise<void> {
    const params = { protocolVersion: LEGACY_VERSION, capabilities: {}, clientInfo: CLIENT_INFO };
    const { protocolVersion } = await this.request('initialize', params);
    const version = typeof protocolVersion === 'string' && /^[\w.-]{1,40}$/.test(protocolVersion);
    this.#headers = { 'mcp-protocol-version': version ? (protocolVersion as string) : LEGACY_VERSION };
    const response = await this.#post({ jsonrpc: '2.0', method: 'notifications/initialized' }, {});
    await drop(response);
  }

  /** Ends the session; the list is complete without it. */
  async close(): Promise<void> {
    if (this.#sessionId === null) return;
    await this.send('DELETE', this.#sessionHeaders(), '').then(drop, () => undefined);
  }

  async request(method: string, params: Json): Promise<Json> {
    const id = ++this.#lastId;
    const body = { jsonrpc: '2.0', id, method, params: this.meta === null ? params : { ...params, _meta: this.meta } };
    const response = await this.#post(body, this.meta === null ? {} : { 'mcp-method': method });
    const message = await readAnswer(response, id, this.budget, this.mask);
    if (response.status < 200 || response.status > 299) throw describeStatus(response.status, message);
    if (message === null) throw new McpListFailure('The server answered without a response to the request.');
    if (isObject(message.error)) throw new McpListFailure(`The server answered: ${quoteMessage(message.error)}`);
    if (!isObject(message.result)) throw new McpListFailure('The server’s answer is no JSON-RPC response.');
    if (response.sessionId !== null && SESSION_ID.test(response.sessionId)) this.#sessionId = response.sessionId;
    return message.result;
  }

  #post(body: Json, headers: Readonly<Record<string, string>>): Promise<McpResponse> {
    const own = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    return this.send('POST', { ...own, ...this.#sessionHeaders(), ...headers }, JSON.stringify(body));
  }

  #sessionHeaders(): Record<string, string> {
    return { ...this.#headers, ...(this.#sessionId === null ? {} : { 'mcp-session-id': this.#sessionId }) };
  }
}

function describeStatus(status: number, message: Json | null): McpListFailure {
  if (status === 401 || status === 403)
    return new McpListFailure(`The server rejects the account’s credential (HTTP ${status}). Set it again.`, status);
  const said = isObject(message?.error) ? `: ${quoteMessage(message.error)}` : '.';
  return new McpListFailure(`The server answered with HTTP ${status}${said}`, status);
}

/** The text of a JSON-RPC error on one line. */
const quoteMessage = ({ message }: Json): string =>
  (readText(message, MESSAGE_CHARS_MAX) ?? 'an error without a message').replaceAll(/[\p{C}\s]+/gu, ' ');

/** The response with the id; null: none, or nothing that is JSON. Throws where the server sends too much. */
async function readAnswer(
  response: McpResponse,
  id: number,
  budget: { bytes: number },
  mask: MaskText,
): Promise<Json | null> {
  const isStream = response.contentType.split(';', 1)[0]!.trim().toLowerCase() === 'text/event-stream';
  let found: Json | null = null;
  const parser = createParser({
    onEvent: ({ data }) => {
      found ??= parseAnswer(data, id, mask);
    },
  });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body) {
    budget.bytes -= chunk.length;
    if (budget.bytes < 0) throw new McpListFailure('The server’s list of tools is larger than 2 MiB.');
    const piece = decoder.decode(chunk, { stream: true });
    if (!isStream) text += piece;
    else parser.feed(piece);
    // The server may keep the stream open.
    if (found !== null) break;
  }
  return isStream ? found : parseAnswer(text, id, mask);
}

function parseAnswer(text: string, id: number, mask: MaskText): Json | null {
  let message: unknown;
  try {
    message = JSON.parse(text, (_name, value: unknown) => (typeof value === 'string' ? mask(value) : value));
  } catch {
    return null;
  }
  if (!isObject(message) || 'method' in message) return null;
  // An error about an unreadable request has no id.
  return message.id === id || (message.error !== undefined && (message.id ?? null) === null) ? message : null;
}

async function drop({ body }: McpResponse): Promise<void> {
  for await (const _ of body) break;
}
