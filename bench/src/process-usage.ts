/** CPU time and memory of a process, read from the kernel (Linux). */
import { readdirSync, readFileSync } from 'node:fs';

const TICK_US = 10_000; // sysconf(_SC_CLK_TCK) is 100 on every Linux that Node runs on
const PAGE_BYTES = 4096;

/** User + system time since the process started, all threads, µs (10 ms steps). */
function cpuTimeUs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

/** Resident memory, bytes. */
export function residentBytes(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
}

/** The process and all of its descendants. */
function processTree(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), pid]);
    } catch {
      // the process exited meanwhile
    }
  }
  const tree = [root];
  for (let i = 0; i < tree.length; i++) tree.push(...(children.get(tree[i]!) ?? []));
  return tree;
}

/** Sum over the tree; a process that exited meanwhile counts as 0. */
export function treeCpuUs(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + attempt(() => cpuTimeUs(pid)), 0);
}

interface CoreTime {
  /** On a core. */
  readonly cpuUs: number;
  /** Runnable, without a core: what other work on the machine costs. */
  readonly waitedUs: number;
}

/** Sum over all threads of the trees since their start, from `schedstat`. */
export function treeCoreTime(roots: readonly number[]): CoreTime {
  let [cpuNs, waitedNs] = [0, 0];
  for (const pid of roots.flatMap(processTree)) {
    try {
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const [ran, waited] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ').map(Number);
        cpuNs += ran!;
        waitedNs += waited!;
      }
    } catch {
      // it exited meanwhile
    }
  }
  return { cpuUs: cpuNs / 1_000, waitedUs: waitedNs / 1_000 };
}

function attempt(read: () => number): number {
  try {
    return read();
  } catch {
    return 0;
  }
}
