/** Runs a program in the foreground with this program's terminal, signals and exit code. */
import { constants } from 'node:os';
import spawn from 'cross-spawn';
import { CliError, EXIT_CODES } from '../terminal/cli-error.js';
import type { Terminal } from '../terminal/terminal.js';

const FORWARDED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
type ForwardedSignal = (typeof FORWARDED_SIGNALS)[number];
/** Signals that a terminal sends to the whole foreground process group, including the child. */
const KEYBOARD_SIGNALS: readonly string[] = ['SIGINT', 'SIGQUIT'];

interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Catches terminating signals from before the child starts until its token is revoked. */
export class SignalForwarder {
  #received: ForwardedSignal | null = null;
  #forward: ((signal: ForwardedSignal) => void) | null = null;
  readonly #onReceived = new AbortController();
  readonly #listeners = FORWARDED_SIGNALS.map((signal) => [signal, () => this.#onSignal(signal)] as const);

  constructor() {
    for (const [signal, listener] of this.#listeners) process.on(signal, listener);
  }

  /** The first signal that arrived without a child; null when there was none. */
  get receivedSignal(): ForwardedSignal | null {
    return this.#received;
  }

  /** Aborts at the first signal that arrives without a child. */
  get abortSignal(): AbortSignal {
    return this.#onReceived.signal;
  }

  forwardTo(forward: ((signal: ForwardedSignal) => void) | null): void {
    this.#forward = forward;
  }

  removeListeners(): void {
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
  }

  #onSignal(signal: ForwardedSignal): void {
    if (this.#forward !== null) {
      this.#forward(signal);
      return;
    }
    this.#received ??= signal;
    this.#onReceived.abort();
  }
}

export const signalExitCode = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

/** Resolves with the child's exit code, or 128 plus the number of the signal that ended it. */
export async function runChild(
  { file, args, env }: ChildCommand,
  terminal: Terminal,
  signals: SignalForwarder,
): Promise<number> {
  const hasKeyboard = [terminal.stdin, terminal.stdout, terminal.stderr].some(({ isTTY }) => isTTY === true);
  const child = spawn(file, [...args], { stdio: 'inherit', env, windowsHide: false });
  signals.forwardTo((signal) => {
    if (!(hasKeyboard && KEYBOARD_SIGNALS.includes(signal))) child.kill(signal);
  });
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) => reject(toStartError(file, error)));
      child.once('exit', (code, signal) =>
        resolve(signal === null ? (code ?? EXIT_CODES.failed) : signalExitCode(signal)),
      );
    });
  } finally {
    signals.forwardTo(null);
  }
}

function toStartError(file: string, error: NodeJS.ErrnoException): CliError {
  if (error.code === 'ENOENT') return new CliError(EXIT_CODES.commandNotFound, `${file}: command not found`);
  if (error.code === 'EACCES' || error.code === 'ENOEXEC')
    return new CliError(EXIT_CODES.notExecutable, `${file}: cannot be executed`);
  return new CliError(EXIT_CODES.runFailed, `${file}: ${error.message}`);
}
