/**
 * Says of which call a row of the ledger is. A row has no word of the client's in it, so each call is the only one of its
 * agent with its method and path, or, where the path is the provider's, with the length of its body.
 */
export class LedgerCallMatcher {
  readonly #ids = new Map<string, string>();
  readonly #lengths = new Map<string, number>();

  /** A body length that no call of that agent had before, from `least` on. */
  nextUniqueBodyLength(agentId: string, least: number): number {
    const length = Math.max(least, (this.#lengths.get(agentId) ?? 0) + 1);
    this.#lengths.set(agentId, length);
    return length;
  }

  register(callId: string, agentId: string, method: string, path: string, bytes: number): void {
    const tag = createMatchKey(agentId, method, path, bytes);
    if (this.#ids.has(tag)) throw new Error(`two calls cannot be told apart: ${tag}`);
    this.#ids.set(tag, callId);
  }

  /** Null: no such call was made. */
  findCallId(agentId: string, method: string, path: string, bytes: number): string | null {
    return this.#ids.get(createMatchKey(agentId, method, path, bytes)) ?? null;
  }
}

const CHAT = '/v1/chat/completions';

/** What arrived of a streamed body that broke off is not its length. */
const createMatchKey = (agentId: string, method: string, path: string, bytes: number): string =>
  `${agentId} ${method} ${path}${path === CHAT ? ` ${bytes}` : ''}`;
