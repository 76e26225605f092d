/** Interface between the command files and the program. */
import type { Command } from 'commander';
import type { Invocation } from './invocation.js';

export interface ProgramInterface {
  /** Creates the invocation of the command whose action calls this. */
  begin(): Invocation;
  /** Exits with that code, without a message. */
  setExitCode(code: number): void;
  /** Returns the command tree with all groups loaded. */
  loadAllCommands(): Promise<Command>;
}

/** Registers a group's commands. */
export type RegisterCommands = (group: Command, tree: ProgramInterface) => void;
