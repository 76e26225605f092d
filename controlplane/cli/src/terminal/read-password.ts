/** Reads a password from stdin or prompts for it without showing it. */
import { promptSecret } from './prompt.js';
import { readStdin } from './secret-input.js';

/** `stdin`: `--password-stdin` was given. */
export const readPassword = (
  run: Parameters<typeof promptSecret>[0],
  message: string,
  stdin: true | undefined,
): Promise<string> =>
  stdin === true ? readStdin(run.terminal) : promptSecret(run, { message, flag: '--password-stdin' });
