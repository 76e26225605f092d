/**
 * Loaded into a plane before its own code (`--import`, with `--expose-gc`). On an IPC message it collects all garbage
 * and responds with the live bytes in V8's heap and in external memory.
 */
import { setImmediate as turn } from 'node:timers/promises';

process.on('message', (message: { held?: true }) => {
  if (message.held === true) void collectGarbageAndReport();
});
process.channel?.unref(); // does not keep the process alive

/** Objects finalized by one collection are freed by the next one. */
const GC_CYCLES = 3;

async function collectGarbageAndReport(): Promise<void> {
  for (let i = 0; i < GC_CYCLES; i++) {
    globalThis.gc!();
    await turn();
  }
  const { heapUsed, external } = process.memoryUsage();
  process.send?.({ heldBytes: heapUsed + external });
}
