/**
 * Loaded into a plane before its own code (`--import`, with `--expose-gc`): asked over IPC, it collects all garbage and
 * says how many bytes the process then holds, in V8's heap and beside it.
 */
import { setImmediate as turn } from 'node:timers/promises';

process.on('message', (message: { held?: true }) => {
  if (message.held === true) void answer();
});
process.channel?.unref(); // it keeps no process from ending

/** What one collection finalizes, the next one frees. */
const COLLECTIONS = 3;

async function answer(): Promise<void> {
  for (let i = 0; i < COLLECTIONS; i++) {
    globalThis.gc!();
    await turn();
  }
  const { heapUsed, external } = process.memoryUsage();
  process.send?.({ heldBytes: heapUsed + external });
}
