/** Scenario 3: thousands of open event streams, one event a second each: memory per stream, delay added, none lost. */
import { connect, type Socket } from 'node:net';
import type { GatewayStack } from '../gateway-stack.js';
import { residentBytes } from '../process-usage.js';
import { percentile } from '../statistics.js';

export interface StreamsFigure {
  readonly streams: number;
  readonly opened: number;
  readonly lost: number;
  readonly eventsPerStream: number;
  readonly rssBytesPerStream: number;
  readonly delayP50Ms: number;
  readonly delayP99Ms: number;
  readonly directDelayP50Ms: number;
  readonly directDelayP99Ms: number;
}

export interface StreamsOptions {
  readonly streams: number;
  readonly seconds: number;
}

const BODY = JSON.stringify({ model: 'gpt-5-mini', stream: true, input: 'hi' });
const SENT = /"sent":(\d{13})/g;
const OPEN_AT_ONCE = 200;

interface Held {
  readonly sockets: readonly Socket[];
  readonly delaysMs: number[];
  readonly counts: { events: number; opened: number; lost: number };
}

export async function openStreams(
  gateway: GatewayStack,
  providerPort: number,
  options: StreamsOptions,
): Promise<StreamsFigure> {
  const direct = await hold(providerPort, '/v1/responses', 'none', Math.min(500, options.streams));
  await new Promise((resolve) => setTimeout(resolve, options.seconds * 500));
  release(direct);
  const before = residentBytes(gateway.dataPlane.pid);
  const held = await hold(
    Number(new URL(gateway.url).port),
    '/v1/proxy/openai/v1/responses',
    gateway.token,
    options.streams,
  );
  await new Promise((resolve) => setTimeout(resolve, options.seconds * 1_000));
  const after = residentBytes(gateway.dataPlane.pid);
  const { events, opened, lost } = held.counts;
  release(held);
  return {
    streams: options.streams,
    opened,
    lost,
    eventsPerStream: events / Math.max(1, opened),
    rssBytesPerStream: (after - before) / Math.max(1, opened),
    delayP50Ms: percentile(held.delaysMs, 50),
    delayP99Ms: percentile(held.delaysMs, 99),
    directDelayP50Ms: percentile(direct.delaysMs, 50),
    directDelayP99Ms: percentile(direct.delaysMs, 99),
  };
}

async function hold(port: number, path: string, token: string, streams: number): Promise<Held> {
  const held: Held = { sockets: [], delaysMs: [], counts: { events: 0, opened: 0, lost: 0 } };
  const request =
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n` +
    `content-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;
  for (let opened = 0; opened < streams; opened += OPEN_AT_ONCE) {
    const batch = Array.from({ length: Math.min(OPEN_AT_ONCE, streams - opened) }, () => openOne(port, request, held));
    (held.sockets as Socket[]).push(...(await Promise.all(batch)));
  }
  return held;
}

function openOne(port: number, request: string, held: Held): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    let first = true;
    socket.on('data', (chunk: Buffer) => {
      if (first) {
        first = false;
        if (chunk.includes('200 OK')) held.counts.opened++;
        resolve(socket);
      }
      const now = Date.now();
      for (const [, sent] of chunk.toString('latin1').matchAll(SENT)) {
        held.counts.events++;
        held.delaysMs.push(now - Number(sent));
      }
    });
    socket.on('error', () => resolve(socket));
    socket.on('close', () => {
      held.counts.lost++;
      resolve(socket);
    });
  });
}

function release(held: Held): void {
  for (const socket of held.sockets) {
    socket.removeAllListeners('close');
    socket.destroy();
  }
}
