/** The environment of the process; created in main.ts, the only file that reads it. */
import type { ReadStream, WriteStream } from 'node:tty';

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** Undefined on Windows. */
  readonly uid: number | undefined;
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
}

/** A user can answer prompts. */
export const isInteractiveTerminal = ({ stdin, stderr }: Terminal): boolean =>
  stdin.isTTY === true && stderr.isTTY === true;

export const hasColors = ({ env, stdout }: Terminal): boolean =>
  stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
