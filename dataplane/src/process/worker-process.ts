/**
 * One forked worker of a fleet. However it ends (it exits, it is killed, it could not even be forked), `onEnd` runs
 * once, in a later turn than the constructor.
 */
import { type ChildProcess, fork } from 'node:child_process';

export type ToWorker = { readonly kind: 'figures'; readonly id: number };
export type FromWorker =
  | { readonly kind: 'listening'; readonly port: number }
  | {
      readonly kind: 'figures';
      readonly id: number;
      readonly metrics: readonly object[];
      readonly notReady: string | null;
    };

export interface WorkerEnd {
  /** Null: killed, or never forked. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it could not be forked; null when it ran. */
  readonly error: string | null;
}

export class WorkerProcess {
  readonly index: number;
  readonly startedTick = performance.now();
  listening = false;
  /** As it said last; null = ready. */
  notReady: string | null = 'starting';
  /** Resolves after `onEnd` ran. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess | null;

  constructor(
    index: number,
    script: string,
    environment: NodeJS.ProcessEnv,
    onMessage: (worker: WorkerProcess, message: FromWorker) => void,
    onEnd: (worker: WorkerProcess, end: WorkerEnd) => void,
  ) {
    this.index = index;
    let end = (_end: WorkerEnd): void => {};
    this.ended = new Promise((resolve) => {
      let over = false;
      end = (how) => {
        if (over) return;
        over = true;
        onEnd(this, how);
        resolve();
      };
    });
    const failed = (error: Error): void => end({ code: null, signal: null, error: error.message });
    this.#child = forked(script, environment, (error) => setImmediate(failed, error));
    this.#child?.on('message', (message: FromWorker) => onMessage(this, message));
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
  ask(question: ToWorker, onLost: () => void): void {
    this.#child?.send(question, (error) => {
      if (error !== null) onLost();
    });
  }
}

/** Null when the system refuses at once; other refusals come as the child's `error`. */
function forked(
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
