/** What the gateway knows of one call to an MCP server, from its head on. */
import type { SlotHolder } from '../concurrency/org-slots.js';
import type { BodyMemory } from '../listener/buffered-or-streamed-request-body.js';
import { type McpMessage, McpMessageReader } from '../mcp/mcp-message-reader.js';

export class McpCall implements SlotHolder {
  /** The organization whose slot for listening streams the call holds; null: it holds none. */
  slotOrgId: string | null = null;
  /** Reads the body of a POST; null: the call has none. */
  readonly reader: McpMessageReader | null;
  /** The message of a POST, once it has arrived. */
  message: McpMessage | null = null;
  /** The session id as the server knows it; null: the agent sent none. */
  readonly sessionId: string | null;
  /** The answer is a stream that waits for events. */
  isListening: boolean;
  readonly answerMemory: AnswerMemory;

  constructor(method: string, sessionId: string | null, memory: BodyMemory) {
    this.reader = method === 'POST' ? new McpMessageReader() : null;
    this.sessionId = sessionId;
    this.isListening = method === 'GET';
    this.answerMemory = new AnswerMemory(memory);
  }
}

/** The memory that the answer of one call holds. */
export class AnswerMemory {
  readonly #memory: BodyMemory;
  #bytes = 0;

  constructor(memory: BodyMemory) {
    this.#memory = memory;
  }

  /** Returns false when fewer than `bytes` are left. */
  reserve(bytes: number): boolean {
    if (!this.#memory.reserve(bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** The call has ended. */
  releaseAll(): void {
    if (this.#bytes > 0) this.#memory.release(this.#bytes);
    this.#bytes = 0;
  }
}

/**
 * The agent's headers for the server: its own session id, and no `Origin`, which would be the gateway's. Flat, lower-case
 * names.
 */
export function toMcpServerHeaders(headers: readonly string[], { sessionId }: McpCall): readonly string[] {
  const out: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === 'origin') continue;
    out.push(headers[i]!, headers[i] === 'mcp-session-id' ? sessionId! : headers[i + 1]!);
  }
  return out;
}

/** The tool that a call names; `''`: none, or no call to an MCP server. */
export function findCalledTool(call: McpCall | null): string {
  const message = call?.message ?? null;
  return message !== null && message.method === 'tools/call' ? (message.name ?? '') : '';
}
