/**
 * Finds the call of a ledger row. A row contains no text of the client, so each call is unique by its agent, method and
 * path; where the provider prescribes the path, the body length is part of the key.
 */
export class LedgerCallMatcher {
  readonly #ids = new Map<string, string>();
  readonly #lengths = new Map<string, number>();

  /** Returns a body length of at least `least` that no earlier call of the agent had. */
  nextUniqueBodyLength(agentId: string, least: number): number {
    const length = Math.max(least, (this.#lengths.get(agentId) ?? 0) + 1);
    this.#lengths.set(agentId, length);
    return length;
  }

  register(callId: string, agentId: string, method: string, path: string, bytes: number): void {
    const matchKey = createMatchKey(agentId, method, path, bytes);
    if (this.#ids.has(matchKey)) throw new Error(`two calls have the same key: ${matchKey}`);
    this.#ids.set(matchKey, callId);
  }

  /** Null: no such call was sent. */
  findCallId(agentId: string, method: string, path: string, bytes: number): string | null {
    return this.#ids.get(createMatchKey(agentId, method, path, bytes)) ?? null;
  }
}

const CHAT = '/v1/chat/completions';

/**
 * Body length is part of the key for chat calls only: a streamed body that broke off arrives shorter than it was sent.
 */
const createMatchKey = (agentId: string, method: string, path: string, bytes: number): string =>
  `${agentId} ${method} ${path}${path === CHAT ? ` ${bytes}` : ''}`;
