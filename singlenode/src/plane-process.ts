/** Runs one plane as a child process: starts it, restarts it when it dies, and stops it with a signal. */
import { type ChildProcess, fork } from 'node:child_process';

interface PlaneOptions {
  readonly name: string;
  /** Absolute path of its main.js. */
  readonly script: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called with one line when the running plane died and will be restarted. */
  readonly onRestart: (line: string) => void;
}

/** The first message of a plane, sent when it listens. */
interface ReadyMessage {
  readonly ready: true;
  readonly port: number;
  readonly grpcPort?: number;
}

/** The plane ended before it listened. It has printed the reason on stderr. */
export class PlaneStartError extends Error {
  constructor(
    readonly plane: string,
    readonly exitCode: number,
  ) {
    super(`${plane} did not start (exit code ${exitCode})`);
    this.name = 'PlaneStartError';
  }
}

const EXIT_BUG = 70;
const RESTART_DELAYS_MS = [200, 1_000, 5_000] as const;

export class PlaneProcess {
  #child: ChildProcess | null = null;
  #isListening = false;
  #stopping = false;
  #restarts = 0;

  constructor(readonly options: PlaneOptions) {}

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Resolves when the plane listens; throws {@link PlaneStartError} when it ends before that. */
  start(): Promise<ReadyMessage> {
    return new Promise((resolve, reject) => {
      // In a process group of its own, so that Ctrl-C reaches only the launcher, which stops the planes in order.
      const child = fork(this.options.script, [], {
        env: this.options.env,
        detached: true,
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      this.#child = child;
      this.#isListening = false;
      child.on('message', (message: Partial<ReadyMessage>) => {
        if (message.ready !== true) return;
        this.#isListening = true;
        resolve(message as ReadyMessage);
      });
      child.once('exit', (code) => {
        // No exit code (killed) or a generic one is reported as a bug.
        const listened = this.#isListening;
        this.#isListening = false;
        if (!listened) reject(new PlaneStartError(this.options.name, code === null || code <= 1 ? EXIT_BUG : code));
        else void this.#restart();
      });
    });
  }

  /** Sends SIGTERM and waits until the plane has drained. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    await exited;
  }

  /** Sends SIGHUP, on which the plane reads its files again. */
  reloadFiles(): void {
    // Before it listens it has no handler yet, and will read the files anyway.
    if (this.#isListening) this.#child?.kill('SIGHUP');
  }

  async #restart(): Promise<void> {
    if (this.#stopping) return;
    const delayMs = RESTART_DELAYS_MS[Math.min(this.#restarts++, RESTART_DELAYS_MS.length - 1)]!;
    this.options.onRestart(`${this.options.name} stopped unexpectedly: restarting in ${delayMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    if (this.#stopping) return;
    try {
      await this.start();
      this.#restarts = 0;
    } catch {
      void this.#restart();
    }
  }
}
