/** What the process has around it; made in main.ts, the only file that looks. */
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

/** Somebody sits there who can be asked. */
export const isInteractiveTerminal = ({ stdin, stderr }: Terminal): boolean =>
  stdin.isTTY === true && stderr.isTTY === true;

export const hasColors = ({ env, stdout }: Terminal): boolean =>
  stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
