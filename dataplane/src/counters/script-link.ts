/** What a node needs of a Redis client: run admit.lua, say what became of it, start the connection anew. */

/** The store refused the call, or the connection was lost before its answer. */
export class ScriptFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ScriptFailure';
  }
}

export interface ScriptLink {
  run(
    keys: readonly string[],
    argument: Buffer,
    writerId: string,
    done: (failure: ScriptFailure | null, reply: Buffer | null) => void,
  ): void;
  /** Drops connections that do not answer; outstanding calls fail. */
  reconnect(): void;
}
