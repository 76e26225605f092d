/** What RedisNode needs from a Redis client: run admit.lua, report the result, and reconnect. */
export interface ScriptRunner {
  /** `done` gets either the reply, or a failure: the store rejected the call, or the connection was lost before the reply. */
  runAdmitScript(
    keys: readonly string[],
    request: string,
    done: (failure: Error | null, reply: string | null) => void,
  ): void;
  /** Drops the connection to a slot's server that does not reply. Outstanding calls fail. */
  reconnect(slot: number): void;
}
