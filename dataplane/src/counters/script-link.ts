/** What the lanes need of a Redis client: run admit.lua, say what became of it, start the connection anew. */

export class ScriptFailure extends Error {
  /**
   * @param applied `no`: the store refused the call and nothing of it happened; `unknown`: the connection was lost
   *   before the answer.
   */
  constructor(
    message: string,
    readonly applied: 'no' | 'unknown',
  ) {
    super(message);
    this.name = 'ScriptFailure';
  }
}

export interface ScriptLink {
  run(
    keys: readonly string[],
    argument: Buffer,
    done: (failure: ScriptFailure | null, reply: Buffer | null) => void,
  ): void;
  /** Drops connections that do not answer; outstanding calls fail as `unknown`. */
  reconnect(): void;
}
