/**
 * One forked worker of a fleet. `onEnd` runs exactly once however the worker ends (exit, kill, failed fork), and never
 * synchronously in the constructor.
 */
import { type ChildProcess, fork } from 'node:child_process';

export type MessageToWorker = { readonly kind: 'metrics'; readonly id: number };
export type MessageFromWorker =
  | { readonly kind: 'listening'; readonly port: number }
  | {
      readonly kind: 'metrics';
      readonly id: number;
      readonly metrics: readonly object[];
      readonly notReady: string | null;
    };

export interface WorkerExit {
  /** Null: killed, or never forked. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why the fork failed; null when the process ran. */
  readonly error: string | null;
}

export class WorkerProcess {
  readonly index: number;
  readonly startedAtPerfMs = performance.now();
  isListening = false;
  /** As last reported by the worker; null = ready. */
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
      let hasEnded = false;
      end = (exit) => {
        if (hasEnded) return;
        hasEnded = true;
        onEnd(this, exit);
        resolve();
      };
    });
    const failed = (error: Error): void => end({ code: null, signal: null, error: error.message });
    this.#child = forkWorker(script, environment, (error) => setImmediate(failed, error));
    this.#child?.on('message', (message: MessageFromWorker) => onMessage(this, message));
    this.#child?.once('exit', (code, signal) => end({ code, signal, error: null }));
    // Without a pid there is no process that could exit. Other errors (a failed signal or message) show elsewhere.
    const child = this.#child;
    child?.on('error', (error) => {
      if (child.pid === undefined) failed(error);
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** `onLost` runs when the message cannot reach the worker. */
  send(message: MessageToWorker, onLost: () => void): void {
    this.#child?.send(message, (error) => {
      if (error !== null) onLost();
    });
  }
}

/** Returns null when the fork fails synchronously; other failures arrive as the child's `error` event. */
function forkWorker(
  script: string,
  environment: NodeJS.ProcessEnv,
  onForkFailed: (error: Error) => void,
): ChildProcess | null {
  try {
    return fork(script, [], { env: environment, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  } catch (error) {
    onForkFailed(error as Error);
    return null;
  }
}
