/** Runs a program in the foreground, as if it had been started itself: its terminal, its signals, its exit code. */
import { constants } from 'node:os';
import spawn from 'cross-spawn';
import { EXIT, Failure } from '../terminal/failure.js';
import type { Terminal } from '../terminal/terminal.js';

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
type Forwarded = (typeof FORWARDED)[number];
/** Those that a terminal sends by itself to everything in the foreground, this program's child included. */
const FROM_KEYBOARD: readonly string[] = ['SIGINT', 'SIGQUIT'];

interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Catches what would end this program, from before there is a child until its token is revoked. */
export class Signals {
  #received: Forwarded | null = null;
  #forward: ((signal: Forwarded) => void) | null = null;
  readonly #onReceived = new AbortController();
  readonly #listeners = FORWARDED.map((signal) => [signal, () => this.#take(signal)] as const);

  constructor() {
    for (const [signal, listener] of this.#listeners) process.on(signal, listener);
  }

  /** The first one that came while there was no child; null: none. */
  get received(): Forwarded | null {
    return this.#received;
  }

  /** Aborted by the first signal that finds no child. */
  get aborted(): AbortSignal {
    return this.#onReceived.signal;
  }

  forwardTo(forward: ((signal: Forwarded) => void) | null): void {
    this.#forward = forward;
  }

  release(): void {
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
  }

  #take(signal: Forwarded): void {
    if (this.#forward !== null) {
      this.#forward(signal);
      return;
    }
    this.#received ??= signal;
    this.#onReceived.abort();
  }
}

export const codeOfSignal = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

/** Its exit code, or 128 and the number of the signal that ended it. */
export async function runChild({ file, args, env }: Command, terminal: Terminal, signals: Signals): Promise<number> {
  const hasKeyboard = [terminal.stdin, terminal.stdout, terminal.stderr].some(({ isTTY }) => isTTY === true);
  const child = spawn(file, [...args], { stdio: 'inherit', env, windowsHide: false });
  signals.forwardTo((signal) => {
    if (!(hasKeyboard && FROM_KEYBOARD.includes(signal))) child.kill(signal);
  });
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) => reject(startFailure(file, error)));
      child.once('exit', (code, signal) => resolve(signal === null ? (code ?? EXIT.failed) : codeOfSignal(signal)));
    });
  } finally {
    signals.forwardTo(null);
  }
}

function startFailure(file: string, error: NodeJS.ErrnoException): Failure {
  if (error.code === 'ENOENT') return new Failure(EXIT.commandNotFound, `${file}: command not found`);
  if (error.code === 'EACCES' || error.code === 'ENOEXEC')
    return new Failure(EXIT.notExecutable, `${file}: cannot be executed`);
  return new Failure(EXIT.runFailed, `${file}: ${error.message}`);
}
