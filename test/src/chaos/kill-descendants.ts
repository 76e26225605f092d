/**
 * Kills all descendants of this process and returns when they are gone. Blocks the event loop, so that this process
 * starts no further ones meanwhile. Linux only.
 */
import { readdirSync, readFileSync } from 'node:fs';

const POLL_MS = 20;
const TIMEOUT_MS = 10_000;
const EXITED_STATES = ['Z', 'X'];

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
}

export function killDescendants(): void {
  // Postgres leaves shared memory behind unless it shuts down itself. SIGQUIT makes it exit at once.
  const servers = (): Process[] => listDescendants(process.pid).filter(({ name }) => name === 'postgres');
  for (const { pid } of servers()) {
    sendSignal(pid, 'SIGQUIT');
    sendSignal(pid, 'SIGCONT');
  }
  waitUntilBlocking(() => servers().length === 0);
  // Stops all first, so that none starts another process while it is being killed.
  const stopped = new Set<number>();
  for (let left = listDescendants(process.pid); left.some(({ pid }) => !stopped.has(pid)); ) {
    for (const { pid } of left) {
      sendSignal(pid, 'SIGSTOP');
      stopped.add(pid);
    }
    left = listDescendants(process.pid);
  }
  for (const pid of stopped) sendSignal(pid, 'SIGKILL');
  waitUntilBlocking(() => listDescendants(process.pid).length === 0);
}

function listDescendants(ancestor: number): Process[] {
  const all = listProcesses();
  const found: Process[] = [];
  for (let parents = new Set([ancestor]); parents.size > 0; ) {
    const children = all.filter(({ parent }) => parents.has(parent));
    found.push(...children);
    parents = new Set(children.map(({ pid }) => pid));
  }
  return found;
}

/** All running processes. */
function listProcesses(): Process[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const nameEnd = stat.lastIndexOf(')');
      const [state = '', parent] = stat.slice(nameEnd + 2).split(' ');
      if (EXITED_STATES.includes(state)) return [];
      return [{ pid: Number(entry), parent: Number(parent), name: stat.slice(stat.indexOf('(') + 1, nameEnd) }];
    } catch {
      return []; // the process has exited meanwhile
    }
  });
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // the process has exited meanwhile
  }
}

function waitUntilBlocking(condition: () => boolean): void {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  const deadline = Date.now() + TIMEOUT_MS;
  while (!condition() && Date.now() < deadline) Atomics.wait(clock, 0, 0, POLL_MS);
}
