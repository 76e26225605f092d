/**
 * One forked worker of a fleet. However it ends (it exits, it is killed, it could not even be forked), `onEnd` runs
 * once, in a later turn than the constructor.
 */
import { type ChildProcess, fork } from 'node:child_process';

export type MessageToWorker = { readonly kind: 'figures'; readonly id: number };
export type MessageFromWorker =
  | { readonly kind: 'listening'; readonly port: number }
  | {
      readonly kind: 'figures';
      readonly id: number;
      readonly metrics: readonly object[];
      readonly notReady: string | null;
    };

export interface WorkerExit {
  /** Null: killed, or never forked. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it could not be forked; null when it ran. */
  readonly error: string | null;
}

export class WorkerProcess {
  readonly index: number;
  readonly startedAtPerfMs = performance.now();
  isListening = false;
  /** As it said last; null = ready. */
  notReadyReason: string | null = 'starting';
  /** Resolves after `onEnd` ran. */
  readonly exited: Promise<void>;
  readonly #child: ChildProcess | null;

  constructor(
    index: number,
    script: string,
    environment: NodeJS.ProcessEnv,
    onMessage: (worker: WorkerProcess, message: MessageFromWorker) => void,
    onEnd: (worker: WorkerProcess, end: WorkerExit) => void,
  ) {
    this.index = index;
    let end = (_end: WorkerExit): void => {};
    this.exited = new Promise((resolve) => {
      let over = false;
      end = (how) => {
        if (over) return;
        over = true;
        onEnd(this, how);
        resolve();
      };
    });
    const failed = (error: Error): void => end({ code: null, signal: null, error: error.message });
    this.#child = forkWorker(script, environment, (error) => setImmediate(failed, error));
    this.#child?.on('message', (message: MessageFromWorker) => onMessage(this, message));
    this.#child?.once('exit', (code, signal) => end({ code, signal, error: null }));
    // Without a pid there is no process that could exit. What else fails (a signal, a message) shows elsewhere.
    const child = this.#child;
    child?.on('error', (error) => {
      if (child.pid === undefined) failed(error);
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** `onLost` runs when the question cannot reach the worker. */
  send(question: MessageToWorker, onLost: () => void): void {
    this.#child?.send(question, (error) => {
      if (error !== null) onLost();
    });
  }
}

/** Null when the system refuses at once; other refusals come as the child's `error`. */
function forkWorker(
  script: string,
  environment: NodeJS.ProcessEnv,
  onRefused: (error: Error) => void,
): ChildProcess | null {
  try {
    return fork(script, [], { env: environment, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  } catch (error) {
    onRefused(error as Error);
    return null;
  }
}
