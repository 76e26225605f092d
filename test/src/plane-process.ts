/** One plane (or a program that says when it listens) as a real child process of a test, killed hard or stopped by pid. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

interface Ready {
  readonly ready: true;
  readonly port: number;
  readonly grpcPort?: number;
  readonly metricsPort?: number;
}

export class TestPlane {
  #child: ChildProcess | null = null;
  /** Everything the process printed, stdout and stderr. */
  output = '';

  constructor(
    readonly plane: string,
    readonly env: Readonly<Record<string, string>>,
    /** The program; another build of the plane when given. */
    readonly script = fileURLToPath(new URL(`../../${plane}/dist/main.js`, import.meta.url)),
    /** Options of Node. */
    readonly nodeOptions: readonly string[] = [],
  ) {}

  /** Starts (again) and resolves when it listens; rejects with what it printed when it ends before. */
  async start(extraEnv: Readonly<Record<string, string>> = {}): Promise<Ready> {
    const child = fork(this.script, [], {
      env: { PATH: process.env.PATH, ...this.env, ...extraEnv },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: [...this.nodeOptions],
    });
    this.#child = child;
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    }
    return new Promise((resolve, reject) => {
      child.on('message', (message: Partial<Ready>) => {
        if (message.ready === true) resolve(message as Ready);
      });
      child.once('exit', (code, signal) =>
        reject(new Error(`${this.plane} ended (${code ?? signal}): ${this.output}`)),
      );
    });
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** Asks over IPC what a module loaded by `nodeOptions` answers; the answer is the next message with that field. */
  ask<T>(question: object, field: keyof T & string): Promise<T> {
    const child = this.#child!;
    return new Promise((resolve, reject) => {
      const onMessage = (message: object): void => {
        if (!(field in message)) return;
        child.off('message', onMessage).off('exit', onExit);
        resolve(message as T);
      };
      const onExit = (): void => reject(new Error(`${this.plane} ended before it answered`));
      child.on('message', onMessage).once('exit', onExit);
      child.send(question);
    });
  }

  /** SIGSTOP: its sockets stay open, and nothing answers. */
  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  /** SIGHUP: files are read again. */
  hangUp(): void {
    this.#child?.kill('SIGHUP');
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  get running(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Sends the signal and waits for the end; resolves with the exit code (null when killed). */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (child === null || !this.running) return child?.exitCode ?? null;
    const gone = once(child, 'exit');
    child.kill(signal);
    const [code] = (await gone) as [number | null];
    return code;
  }

  stop(): Promise<number | null> {
    return this.end('SIGTERM');
  }

  kill(): Promise<number | null> {
    return this.end('SIGKILL');
  }
}
