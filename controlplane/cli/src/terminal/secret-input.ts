/**
 * Reads secrets from a hidden prompt, stdin, a file or a variable; never from an argument, because `ps` shows
 * arguments.
 */
import { readFileSync } from 'node:fs';
import { usage } from './cli-error.js';
import type { Terminal } from './terminal.js';

const BYTES_MAX = 64 * 1024;

/** Reads all of stdin without its final newline. */
export async function readStdin({ stdin }: Terminal, bytesMax = BYTES_MAX): Promise<string> {
  let text = '';
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.length > bytesMax) throw usage(`stdin has more than ${bytesMax / 1024} KiB`);
  }
  return stripFinalNewline(text, 'stdin');
}

/** Reads the file that an option names; `-` is stdin in every option. */
export async function readFileOrStdin(terminal: Terminal, file: string, bytesMax = BYTES_MAX): Promise<string> {
  return file === '-' ? readStdin(terminal, bytesMax) : readFileSync(file, 'utf8');
}

export interface SecretSource {
  readonly stdin?: boolean | undefined;
  readonly file?: string | undefined;
  /** Name of an environment variable. */
  readonly env?: string | undefined;
}

/** Returns null when no source was given. */
export async function readSecret(terminal: Terminal, { stdin, file, env }: SecretSource): Promise<string | null> {
  if ([stdin, file, env].filter((source) => source !== undefined).length > 1)
    throw usage('the secret comes from one place');
  if (stdin === true) return readStdin(terminal);
  if (file !== undefined) return stripFinalNewline(await readFileOrStdin(terminal, file), file);
  if (env === undefined) return null;
  return stripFinalNewline(terminal.env[env] ?? '', `the variable ${env}`);
}

function stripFinalNewline(text: string, source: string): string {
  const secret = text.replace(/\r?\n$/, '');
  if (secret === '') throw usage(`${source} holds nothing`);
  return secret;
}
