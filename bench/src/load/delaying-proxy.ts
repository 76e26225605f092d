/**
 * A TCP proxy that hands responses on later: a store that is farther away.
 *
 *   node delaying-proxy.js PORT TARGET_PORT DELAY_US
 *
 * Timers of the event loop have steps of 1 ms. So while a response waits, the loop looks at the clock after each short
 * wait on shared memory, which leaves the core to others.
 */
import { connect, createServer, type Socket } from 'node:net';

const POLL_MS = 0.03;

const [port, targetPort, delayUs] = process.argv.slice(2).map(Number) as [number, number, number];
const never = new Int32Array(new SharedArrayBuffer(4));
/** In the order of arrival, which is the order in which they are due. */
const waiting: { readonly dueUs: number; readonly client: Socket; readonly bytes: Buffer }[] = [];
const nowUs = (): number => Number(process.hrtime.bigint() / 1_000n);

function forwardDue(): void {
  const now = nowUs();
  while (waiting.length > 0 && waiting[0]!.dueUs <= now) {
    const { client, bytes } = waiting.shift()!;
    client.write(bytes);
  }
  if (waiting.length === 0) return;
  setImmediate(forwardDue); // after the sockets
  Atomics.wait(never, 0, 0, POLL_MS);
}

createServer({ noDelay: true }, (client) => {
  const target = connect({ port: targetPort, host: '127.0.0.1', noDelay: true });
  client.on('data', (bytes) => target.write(bytes));
  target.on('data', (bytes) => {
    waiting.push({ dueUs: nowUs() + delayUs, client, bytes });
    if (waiting.length === 1) setImmediate(forwardDue);
  });
  for (const socket of [client, target]) {
    socket.on('error', () => {});
    socket.on('close', () => {
      client.destroy();
      target.destroy();
    });
  }
}).listen(port, '127.0.0.1');
