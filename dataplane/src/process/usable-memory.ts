/**
 * Bytes of memory that this process and its children may use: the container's limit, if it has one, else the machine's
 * memory.
 */
import { totalmem } from 'node:os';

export function usableMemoryBytes(machine = totalmem(), container = process.constrainedMemory()): number {
  // Without a limit, `container` is undefined, 0, or more than any machine has.
  return container !== undefined && container > 0 ? Math.min(machine, container) : machine;
}
