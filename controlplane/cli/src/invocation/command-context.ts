/** What the files of commands build on. */
import type { Command } from 'commander';
import type { Invocation } from './invocation.js';

export interface CommandContext {
  /** A new run of the command whose action calls this. */
  begin(): Invocation;
  /** Ends with that code, without a message. */
  setExitCode(code: number): void;
  /** The whole tree, all groups loaded. */
  loadAllCommands(): Promise<Command>;
}

/** Adds a group's commands to it. */
export type RegisterCommands = (group: Command, tree: CommandContext) => void;
