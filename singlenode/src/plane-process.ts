/** One plane as a child process: started, watched, restarted when it dies, stopped with a signal. */
import { type ChildProcess, fork } from 'node:child_process';

interface PlaneOptions {
  readonly name: string;
  /** Absolute path of its main.js. */
  readonly script: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called with one line when the running plane died and is started again. */
  readonly onRestart: (line: string) => void;
}

/** The first message of a plane: it listens. */
interface ReadyMessage {
  readonly ready: true;
  readonly port: number;
  readonly grpcPort?: number;
}

/** The plane ended before it listened; it has said why on stderr. */
export class PlaneStartError extends Error {
  constructor(
    readonly plane: string,
    readonly exitCode: number,
  ) {
    super(`${plane} did not start (exit code ${exitCode})`);
    this.name = 'PlaneFailed';
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
      // A process group of its own: Ctrl-C reaches the launcher alone, which stops the planes in order.
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
        // Killed, or ended in a way that it has no code for: a bug.
        const listened = this.#isListening;
        this.#isListening = false;
        if (!listened) reject(new PlaneStartError(this.options.name, code === null || code <= 1 ? EXIT_BUG : code));
        else void this.#restart();
      });
    });
  }

  /** SIGTERM, then waits for the drain. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    await gone;
  }

  /** SIGHUP: reads its files again. */
  reloadFiles(): void {
    // Before it listens it has no handler yet, and reads them anyway.
    if (this.#isListening) this.#child?.kill('SIGHUP');
  }

  async #restart(): Promise<void> {
    if (this.#stopping) return;
    const delayMs = RESTART_DELAYS_MS[Math.min(this.#restarts++, RESTART_DELAYS_MS.length - 1)]!;
    this.options.onRestart(`${this.options.name} ended unexpectedly: starting it again in ${delayMs} ms`);
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
