/**
 * A thread that signals when the next request is due. A wait on shared memory wakes within some 0.1 ms, where a timer
 * of the event loop has steps of 1 ms. Unlike a loop that polls the clock it leaves the core to the measured processes.
 */
import { parentPort, workerData } from 'node:worker_threads';

export interface Pace {
  /** First due time, µs of the monotonic clock. */
  readonly startUs: number;
  readonly intervalUs: number;
  readonly total: number;
}

const { startUs, intervalUs, total } = workerData as Pace;
const never = new Int32Array(new SharedArrayBuffer(4));
for (let sent = 0; sent < total; ) {
  const nowUs = Number(process.hrtime.bigint() / 1_000n);
  const due = Math.min(total, Math.floor((nowUs - startUs) / intervalUs) + 1);
  if (due > sent) {
    sent = due;
    parentPort!.postMessage(due);
  } else {
    Atomics.wait(never, 0, 0, (startUs + sent * intervalUs - nowUs) / 1_000);
  }
}
