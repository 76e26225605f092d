/** A hostile client on its own thread, so that it does not share the event loop of the measuring client. */
import { randomBytes } from 'node:crypto';
import { Worker, workerData } from 'node:worker_threads';
import { call } from './neighbour.js';

interface AttackerOptions {
  readonly url: string;
  /** Called alternately. */
  readonly paths: readonly string[];
  /** Null: a new, nonexistent token for each call. */
  readonly token: string | null;
  /** Number of concurrent calls. */
  readonly workers: number;
  readonly pauseMs: number;
}

export interface Attack {
  stop(): Promise<void>;
}

/** Client IP of the attacker, who is another host. */
const ATTACKERS_ADDRESS = '127.0.0.2';

/** Attacks until it is stopped, which aborts the calls in flight. */
export function startAttacker(options: AttackerOptions): Attack {
  const worker = new Worker(new URL(import.meta.url), { workerData: { attacker: options } });
  return {
    async stop() {
      await worker.terminate();
    },
  };
}

async function attack({ url, paths, token, workers, pauseMs }: AttackerOptions): Promise<void> {
  let calls = 0;
  const work = async (): Promise<void> => {
    for (;;) {
      const path = paths[calls++ % paths.length];
      await call(url, token ?? `acg_${randomBytes(32).toString('hex')}`, path, ATTACKERS_ADDRESS);
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
}

const given = workerData as { attacker?: AttackerOptions } | null;
if (given?.attacker !== undefined) void attack(given.attacker);
