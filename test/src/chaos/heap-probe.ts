/**
 * Loaded into a plane before its own code (`--import`, with `--expose-gc`): asked over IPC, it collects all garbage and
 * says how many bytes the process then holds, in V8's heap and beside it.
 */
import { setImmediate as turn } from 'node:timers/promises';

process.on('message', (message: { held?: true }) => {
  if (message.held === true) void collectGarbageAndReport();
});
process.channel?.unref(); // it keeps no process from ending

/** What one collection finalizes, the next one frees. */
const GC_CYCLES = 3;

async function collectGarbageAndReport(): Promise<void> {
  for (let i = 0; i < GC_CYCLES; i++) {
    globalThis.gc!();
    await turn();
  }
  const { heapUsed, external } = process.memoryUsage();
  process.send?.({ heldBytes: heapUsed + external });
}
