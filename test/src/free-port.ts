/**
 * Ports for servers that must be told theirs, or that come back on it. The system gives out its ports from 32768 (Linux)
 * or 49152 up to whoever asks for any, so one of those that is let go for a moment may be gone. These lie below, and
 * far enough below that a Redis of a cluster has its second port (10 000 higher) there, too.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';

const FIRST = 11_000;
const COUNT = 10_000;
/** Processes at a time seldom have numbers that differ by a multiple of COUNT / STRIDE. */
const STRIDE = 53;

let next = (process.pid * STRIDE) % COUNT;

/** A port that nobody has; this process does not give it out twice. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < COUNT; attempt++) {
    const port = FIRST + next;
    next = (next + 1) % COUNT;
    if (await isFree(port)) return port;
  }
  throw new Error('no free port');
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  try {
    probe.listen(port, '127.0.0.1');
    await once(probe, 'listening'); // rejects with the server's `error`
  } catch {
    return false;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}
