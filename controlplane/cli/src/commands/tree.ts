/** What the files of commands build on. */
import type { Command } from 'commander';
import type { Invocation } from '../invocation/invocation.js';

export interface Tree {
  /** A new run of the command whose action calls this. */
  begin(): Invocation;
  /** Ends with that code, without a message. */
  exit(code: number): void;
  /** The whole tree, all groups loaded. */
  everything(): Promise<Command>;
}

/** Adds a group's commands to it. */
export type Build = (group: Command, tree: Tree) => void;
