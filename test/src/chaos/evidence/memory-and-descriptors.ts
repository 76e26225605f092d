/** Memory and file descriptors of a process, read from the kernel (Linux). */
import { readdirSync, readFileSync } from 'node:fs';
import type { ProcessUsage } from '../invariants/process-exits-and-leaks.js';

const PAGE_BYTES = 4096;

export function readProcessUsage(pid: number): ProcessUsage {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  return { residentBytes: pages * PAGE_BYTES, descriptors: readdirSync(`/proc/${pid}/fd`).length };
}
