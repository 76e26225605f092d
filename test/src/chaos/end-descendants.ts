/**
 * Ends every process that this one has started, and theirs, and returns when they are gone. It never yields: whatever
 * this process was about to start meanwhile is not started. Linux.
 */
import { readdirSync, readFileSync } from 'node:fs';

const POLL_MS = 20;
const PATIENCE_MS = 10_000;
const ENDED = ['Z', 'X'];

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
}

export function endDescendants(): void {
  // Postgres leaves shared memory behind unless it ends by itself; told to quit, it asks nobody.
  const servers = (): Process[] => descendantsOf(process.pid).filter(({ name }) => name === 'postgres');
  for (const { pid } of servers()) {
    send(pid, 'SIGQUIT');
    send(pid, 'SIGCONT');
  }
  waitUntil(() => servers().length === 0);
  // Stopped first, so that none starts another one while it is being ended.
  const stopped = new Set<number>();
  for (let left = descendantsOf(process.pid); left.some(({ pid }) => !stopped.has(pid)); ) {
    for (const { pid } of left) {
      send(pid, 'SIGSTOP');
      stopped.add(pid);
    }
    left = descendantsOf(process.pid);
  }
  for (const pid of stopped) send(pid, 'SIGKILL');
  waitUntil(() => descendantsOf(process.pid).length === 0);
}

function descendantsOf(ancestor: number): Process[] {
  const all = processes();
  const found: Process[] = [];
  for (let parents = new Set([ancestor]); parents.size > 0; ) {
    const children = all.filter(({ parent }) => parents.has(parent));
    found.push(...children);
    parents = new Set(children.map(({ pid }) => pid));
  }
  return found;
}

/** Those that run. */
function processes(): Process[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const nameEnd = stat.lastIndexOf(')');
      const [state = '', parent] = stat.slice(nameEnd + 2).split(' ');
      if (ENDED.includes(state)) return [];
      return [{ pid: Number(entry), parent: Number(parent), name: stat.slice(stat.indexOf('(') + 1, nameEnd) }];
    } catch {
      return []; // it has ended meanwhile
    }
  });
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended meanwhile
  }
}

function waitUntil(isSo: () => boolean): void {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  const deadline = Date.now() + PATIENCE_MS;
  while (!isSo() && Date.now() < deadline) Atomics.wait(clock, 0, 0, POLL_MS);
}
