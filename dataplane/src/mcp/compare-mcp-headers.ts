/**
 * Compares the headers of an MCP request with its body (SEP-2243). The body decides; a server or a proxy that reads only
 * the headers would act on another call. From version 2026-07-28 on the headers are required.
 */
import type { McpMessage } from './mcp-message-reader.js';

/** The first version whose requests state themselves in headers. */
const FIRST_HEADER_VERSION = '2026-07-28';
const VERSION_FORM = /^\d{4}-\d{2}-\d{2}$/;
const PARAM_PREFIX = 'mcp-param-';
const ENCODED = /^=\?base64\?(.*)\?=$/s;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** `isModern`: the version requires the headers, and a mismatch has an error code of its own. */
export interface McpHeaderMismatch {
  readonly message: string;
  readonly isModern: boolean;
}

/**
 * Null: headers and body agree. `headers`: flat, lower-case names. `parseArguments`: the tool's arguments; called only
 * where a header mirrors one.
 */
export function compareMcpHeaders(
  headers: readonly string[],
  message: McpMessage,
  parseArguments: () => unknown,
): McpHeaderMismatch | null {
  let version: string | undefined;
  let method: string | undefined;
  let name: string | undefined;
  let repeated = '';
  let params: string[] | null = null;
  const seen = (now: string | undefined, value: string, header: string): string => {
    if (now !== undefined) repeated = header;
    return value;
  };
  for (let i = 0; i < headers.length; i += 2) {
    const header = headers[i]!;
    if (!header.startsWith('mcp-')) continue;
    const value = headers[i + 1]!.trim();
    if (header === 'mcp-protocol-version') version = seen(version, value, header);
    else if (header === 'mcp-method') method = seen(method, value, header);
    else if (header === 'mcp-name') name = seen(name, value, header);
    else if (header.startsWith(PARAM_PREFIX)) {
      params ??= [];
      params.push(header, value);
    }
  }
  const isModern = isModernVersion(message.version ?? version ?? '');
  const mismatch = (what: string): McpHeaderMismatch => ({ isModern, message: `Header mismatch: ${what}` });
  if (repeated !== '') return mismatch(`${repeated} occurs twice`);
  if (message.version !== null && version !== undefined && message.version !== version)
    return mismatch('mcp-protocol-version and params._meta disagree');
  if (method !== undefined && method !== message.method) return mismatch('mcp-method and the method disagree');
  if (name !== undefined && !isMirrored(decodeHeaderValue(name), message))
    return mismatch('mcp-name and the params disagree');
  if (params !== null && !areParamsMirrored(params, parseArguments()))
    return mismatch('mcp-param and the arguments disagree');
  if (!isModern || message.kind !== 'request') return null;
  if (version === undefined) return mismatch('mcp-protocol-version is missing');
  if (method === undefined) return mismatch('mcp-method is missing');
  return name === undefined && nameSource(message) !== null ? mismatch('mcp-name is missing') : null;
}

const isModernVersion = (version: string): boolean => VERSION_FORM.test(version) && version >= FIRST_HEADER_VERSION;

/** The value that `Mcp-Name` mirrors; null: the method has none. */
function nameSource({ method, name, uri, taskId }: McpMessage): string | null {
  switch (method) {
    case 'tools/call':
    case 'prompts/get':
      return name;
    case 'resources/read':
      return uri;
    case 'tasks/get':
    case 'tasks/result':
    case 'tasks/update':
    case 'tasks/cancel':
      return taskId;
    default:
      return null;
  }
}

/** For a method without a mirrored member, any of the three members may be named. */
function isMirrored(value: string | null, message: McpMessage): boolean {
  if (value === null) return false;
  const source = nameSource(message);
  if (source !== null) return value === source;
  return value === message.name || value === message.uri || value === message.taskId;
}

/** Null: the base64 form is damaged. */
function decodeHeaderValue(value: string): string | null {
  const encoded = ENCODED.exec(value)?.[1];
  if (encoded === undefined) return value;
  if (!BASE64.test(encoded)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, 'base64'));
  } catch {
    return null;
  }
}

/**
 * Only the server knows which argument a header mirrors, so each header must equal one of the arguments, at any depth.
 * `params`: flat, `[header, value, …]`.
 */
function areParamsMirrored(params: readonly string[], args: unknown): boolean {
  const texts = new Set<string>();
  const numbers = new Set<number>();
  const stack: unknown[] = [args];
  while (stack.length > 0) {
    const value = stack.pop();
    if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) stack.push(item);
    else if (typeof value === 'number') numbers.add(value);
    else texts.add(String(value));
  }
  const names = new Set<string>();
  for (let i = 0; i < params.length; i += 2) {
    const value = decodeHeaderValue(params[i + 1]!);
    if (value === null || names.has(params[i]!)) return false;
    names.add(params[i]!);
    if (!texts.has(value) && !(/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value) && numbers.has(Number(value))))
      return false;
  }
  return true;
}
