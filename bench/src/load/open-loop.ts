/**
 * Open-loop load: requests are due at fixed times whatever the answers do, and latency counts from the due time, so a
 * stalled proxy cannot hide its own queue.
 */
import { Pool } from 'undici';

export interface OpenLoopOptions {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly perSecond: number;
  readonly seconds: number;
}

export interface OpenLoopResult {
  /** µs from due time to the last byte, one per answered request. */
  readonly latenciesUs: readonly number[];
  readonly errors: number;
}

const CONNECTIONS = 128;

export async function runOpenLoop(options: OpenLoopOptions): Promise<OpenLoopResult> {
  const pool = new Pool(options.origin, { connections: CONNECTIONS, pipelining: 1 });
  const latenciesUs: number[] = [];
  let errors = 0;
  const pending: Promise<void>[] = [];
  const total = options.perSecond * options.seconds;
  const intervalUs = 1_000_000 / options.perSecond;
  const startUs = nowUs();
  const send = async (dueUs: number): Promise<void> => {
    try {
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: options.path,
        headers: { 'content-type': 'application/json', ...options.headers },
        body: options.body,
      });
      await body.dump();
      if (statusCode === 200) latenciesUs.push(nowUs() - dueUs);
      else errors++;
    } catch {
      errors++;
    }
  };
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.floor((nowUs() - startUs) / intervalUs) + 1);
    for (; sent < due; sent++) pending.push(send(startUs + sent * intervalUs));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(pending);
  await pool.close();
  return { latenciesUs, errors };
}

const nowUs = (): number => performance.now() * 1_000;
