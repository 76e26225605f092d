/** What a node needs of a Redis client: run admit.lua, say what became of it, start the connection anew. */

/** The store refused the call, or the connection was lost before its answer. */
export class ScriptError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ScriptFailure';
  }
}

export interface ScriptRunner {
  runAdmitScript(
    keys: readonly string[],
    argument: Buffer,
    writerId: string,
    done: (failure: ScriptError | null, reply: Buffer | null) => void,
  ): void;
  /** Drops the connection to the server of a slot, which does not answer; outstanding calls fail. */
  reconnect(slot: number): void;
}
