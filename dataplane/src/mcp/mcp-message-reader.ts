/**
 * Reads one JSON-RPC message of an MCP client from a request body, so strictly that no server can read another message
 * from it. Fed as the body arrives; decides on the complete body. Batches, duplicate members and names in two spellings
 * are invalid.
 */
import { StrictJsonValidator } from '../policy/body/strict-json-validator.js';
import { compileJsonPaths } from '../scan/json-paths.js';
import { JsonScanner, type JsonScanSink } from '../scan/json-scanner.js';

/** What a client sends: a request, a notification, or the response to a server's request. */
export interface McpMessage {
  readonly kind: 'request' | 'notification' | 'response';
  /** `''` for a response. */
  readonly method: string;
  /** The id as the client wrote it (a JSON string or number); null for a notification. */
  readonly idText: string | null;
  /** `params.name`: of a tool or a prompt; null: absent or not a string. */
  readonly name: string | null;
  readonly uri: string | null;
  readonly taskId: string | null;
  /** `params.ref` of `completion/complete`; null: absent, or readable in two ways. */
  readonly ref: { readonly type: string; readonly value: string } | null;
  /** `params.notifications.resourceSubscriptions`; null: not a list of texts, or readable in two ways. */
  readonly subscribedUris: readonly string[] | null;
  /** The protocol version that `params._meta` states; null: none. */
  readonly version: string | null;
}

/** `code`: of the JSON-RPC error. `idText`: the request's id, where it can be read. */
export interface McpProblem {
  readonly code: -32700 | -32600;
  readonly message: string;
  readonly idText: string | null;
}

const ID = 0;
const METHOD = 1;
const NAME = 2;
const URI = 3;
const TASK_ID = 4;
const REF = 5;
const NOTIFICATIONS = 6;
const META = 7;
const RESULT = 8;
const ERROR = 9;
const VERSION = 10;
const SLOTS = compileJsonPaths({
  jsonrpc: VERSION,
  id: ID,
  method: METHOD,
  result: RESULT,
  error: ERROR,
  'params.name': NAME,
  'params.uri': URI,
  'params.taskId': TASK_ID,
  'params.ref': REF,
  'params.notifications': NOTIFICATIONS,
  'params._meta': META,
});
/** Names of the document and of `params` that must not occur in another case: some servers ignore case. */
const WATCHED_NAMES = [
  'jsonrpc',
  'id',
  'method',
  'params',
  'result',
  'error',
  'name',
  'uri',
  'ref',
  'notifications',
  '_meta',
];
const WATCHED_DEPTH = 2;
const ID_CHARS_MAX = 256;
const VERSION_MEMBER = 'io.modelcontextprotocol/protocolVersion';
const OPEN_BRACE = 0x7b;

export class McpMessageReader implements JsonScanSink {
  readonly #strict = new StrictJsonValidator(WATCHED_NAMES, WATCHED_DEPTH);
  readonly #scanner = new JsonScanner(SLOTS, this);
  /** Raw JSON by slot; null: the value is too long to be read. */
  readonly #values: (string | null | undefined)[] = [];

  /** Bytes of memory besides the body. */
  get heldBytes(): number {
    return this.#strict.heldBytes;
  }

  observe(bytes: Buffer): void {
    this.#strict.push(bytes);
    this.#scanner.push(bytes, 0, bytes.length);
  }

  onValue(slot: number, text: string | null): void {
    this.#values[slot] = text;
  }

  /** The id that was read so far; null: none. */
  get idText(): string | null {
    const text = this.#values[ID];
    return typeof text === 'string' && isIdText(text) ? text : null;
  }

  /** Decides after the last byte. `body`: the complete body. */
  finish(body: Buffer): McpMessage | McpProblem {
    const { idText } = this;
    const problem = this.#strict.finish();
    if (problem === 'not_json') return { code: -32700, message: 'Parse error', idText: null };
    if (problem === 'ambiguous') return invalid('a member occurs twice or in two spellings', null);
    if (body[findFirstByte(body)] !== OPEN_BRACE) return invalid('the body must be one JSON object', null);
    if (this.#values[VERSION] !== '"2.0"') return invalid('jsonrpc must be "2.0"', idText);
    if (this.#values[ID] !== undefined && idText === null) return invalid('id must be a string or a number', null);
    return this.#values[METHOD] === undefined ? this.#readResponse(idText) : this.#readCall(idText);
  }

  #readResponse(idText: string | null): McpMessage | McpProblem {
    const hasResult = this.#values[RESULT] !== undefined;
    if (idText === null || hasResult === (this.#values[ERROR] !== undefined))
      return invalid('the message is neither a request nor a response', idText);
    return { ...NO_CALL, kind: 'response', idText };
  }

  #readCall(idText: string | null): McpMessage | McpProblem {
    const method = parseString(this.#values[METHOD]);
    if (method === null || method === '' || this.#values[RESULT] !== undefined || this.#values[ERROR] !== undefined)
      return invalid('the message is neither a request nor a response', idText);
    if (this.#values[META] === null) return invalid('params._meta is too long', idText);
    return {
      kind: idText === null ? 'notification' : 'request',
      method,
      idText,
      name: parseString(this.#values[NAME]),
      uri: parseString(this.#values[URI]),
      taskId: parseString(this.#values[TASK_ID]),
      ref: parseRef(this.#values[REF]),
      subscribedUris: parseSubscribedUris(this.#values[NOTIFICATIONS]),
      version: parseVersion(this.#values[META]),
    };
  }
}

const NO_CALL = {
  method: '',
  name: null,
  uri: null,
  taskId: null,
  ref: null,
  subscribedUris: null,
  version: null,
} as const;

const invalid = (why: string, idText: string | null): McpProblem => ({
  code: -32600,
  message: `Invalid Request: ${why}`,
  idText,
});

const isIdText = (text: string): boolean => text.length <= ID_CHARS_MAX && /^["\d-]/.test(text);

/** Index of the first byte that is no white space. */
function findFirstByte(body: Buffer): number {
  let at = 0;
  while (body[at] === 0x20 || body[at] === 0x09 || body[at] === 0x0a || body[at] === 0x0d) at++;
  return at;
}

/** The values were checked: they are valid JSON without duplicate names. */
function parseString(text: string | null | undefined): string | null {
  if (typeof text !== 'string' || !text.startsWith('"')) return null;
  return JSON.parse(text) as string;
}

function parseObject(text: string | null | undefined): Record<string, unknown> | null {
  if (typeof text !== 'string' || !text.startsWith('{')) return null;
  return JSON.parse(text) as Record<string, unknown>;
}

/** Whether a name differs only in spelling from one of `known`. */
const hasOtherSpelling = (object: Record<string, unknown>, known: readonly string[]): boolean =>
  Object.keys(object).some((name) => {
    const folded = name.normalize('NFKC').trim().toLowerCase();
    return !known.includes(name) && known.some((one) => one.toLowerCase() === folded);
  });

function parseRef(text: string | null | undefined): McpMessage['ref'] {
  const ref = parseObject(text);
  if (ref === null || hasOtherSpelling(ref, ['type', 'name', 'uri'])) return null;
  const value = ref.type === 'ref/prompt' ? ref.name : ref.type === 'ref/resource' ? ref.uri : null;
  return typeof value === 'string' ? { type: ref.type as string, value } : null;
}

function parseSubscribedUris(text: string | null | undefined): readonly string[] | null {
  if (text === undefined) return [];
  const wanted = parseObject(text);
  if (wanted === null || hasOtherSpelling(wanted, ['resourceSubscriptions'])) return null;
  const uris = wanted.resourceSubscriptions ?? [];
  return Array.isArray(uris) && uris.every((uri) => typeof uri === 'string') ? uris : null;
}

function parseVersion(text: string | null | undefined): string | null {
  const version = parseObject(text)?.[VERSION_MEMBER];
  return typeof version === 'string' ? version : null;
}
