/** What RedisNode needs from a Redis client: run admit.lua, report the result, and reconnect. */

/** The store rejected the call, or the connection was lost before the reply. */
export class ScriptError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ScriptError';
  }
}

export interface ScriptRunner {
  runAdmitScript(
    keys: readonly string[],
    argument: Buffer,
    writerId: string,
    done: (failure: ScriptError | null, reply: Buffer | null) => void,
  ): void;
  /** Drops the connection to a slot's server that does not reply. Outstanding calls fail. */
  reconnect(slot: number): void;
}
