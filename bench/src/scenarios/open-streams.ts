/**
 * Scenario 3: thousands of open event streams with one event per second each: memory per stream, delay of an event,
 * none lost. Then the same through nginx, and directly from the provider.
 */
import { execFileSync } from 'node:child_process';
import type { Socket } from 'node:net';
import { openSocket } from '../load/open-tcp-or-tls-socket.js';
import { residentBytes } from '../process-usage.js';
import { nginxAvailable, startPlainNginx } from '../references/nginx.js';
import { percentile } from '../statistics.js';
import { type Bench, rounded, type Scenario, type ScenarioResult } from './scenario.js';

const STREAMS_MAX = 10_000;
const STREAMS = 5_000;
/** Descriptors of a proxy besides two per stream. */
const OTHER_DESCRIPTORS = 500;
const HELD_MS = 8_000;
const OPEN_AT_ONCE = 200;
const OPEN_TIMEOUT_MS = 10_000;
const KIB = 1_024;
const BODY = JSON.stringify({ model: 'gpt-5-mini', stream: true, input: 'hi' });
const SENT = /"sent":(\d{13})/g;

interface StreamsFigure {
  readonly name: string;
  readonly opened: number;
  /** Streams closed or reset early. */
  readonly lost: number;
  readonly eventsPerStream: number;
  /** Null for the provider itself. */
  readonly rssBytesPerStream: number | null;
  readonly delayP50Ms: number;
  readonly delayP99Ms: number;
}

interface Held {
  readonly sockets: Socket[];
  readonly delaysMs: number[];
  events: number;
  opened: number;
  lost: number;
}

export const openStreams: Scenario = {
  name: 'streams',
  title: 'open event streams',
  async run({ gateway, provider }: Bench): Promise<ScenarioResult> {
    const streams = descriptorLimit() >= 2 * STREAMS_MAX + OTHER_DESCRIPTORS ? STREAMS_MAX : STREAMS;
    const nginx = nginxAvailable() ? await startPlainNginx(provider.port) : null;
    const figures: StreamsFigure[] = [];
    try {
      figures.push(await measure('direct', provider.origin, '/v1/responses', streams, '', null));
      const { pid } = gateway.dataPlane;
      const path = '/v1/proxy/openai/v1/responses';
      figures.push(await measure('gateway', gateway.url, path, streams, gateway.token, pid));
      if (nginx !== null) {
        figures.push(await measure('nginx', nginx.url, '/v1/responses', streams, '', nginx.child.pid));
      }
    } finally {
      await nginx?.child.stop();
    }
    const of = (name: string) => figures.find((figure) => figure.name === name);
    return {
      figures: { streams, targets: figures },
      rows: figures.map(tableRow),
      charts: [
        {
          title: 'RSS per open stream',
          unit: 'KiB',
          bars: figures
            .filter((f) => f.rssBytesPerStream !== null)
            .map((f) => ({ label: f.name, value: f.rssBytesPerStream! / KIB })),
        },
      ],
      notes: [
        `${streams} streams each; goal ≤ 30 KiB of RSS per stream, none lost`,
        `event delay added at p50: ${of('gateway')!.delayP50Ms - of('direct')!.delayP50Ms} ms`,
        ...(nginx === null ? ['nginx skipped: not installed'] : []),
      ],
    };
  },
};

/** Soft limit of open files of this process and its children. */
const descriptorLimit = (): number => {
  const text = execFileSync('/bin/sh', ['-c', 'ulimit -n']).toString().trim();
  return text === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(text);
};

async function measure(
  name: string,
  origin: string,
  path: string,
  streams: number,
  token: string,
  pid: number | null,
): Promise<StreamsFigure> {
  const before = pid === null ? 0 : residentBytes(pid);
  const held: Held = { sockets: [], delaysMs: [], events: 0, opened: 0, lost: 0 };
  const request =
    `POST ${path} HTTP/1.1\r\nhost: ${new URL(origin).host}\r\nauthorization: Bearer ${token}\r\n` +
    `content-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;
  for (let opened = 0; opened < streams; opened += OPEN_AT_ONCE) {
    const batch = Array.from({ length: Math.min(OPEN_AT_ONCE, streams - opened) }, () =>
      openOne(origin, request, held),
    );
    held.sockets.push(...(await Promise.all(batch)));
  }
  held.events = 0;
  held.delaysMs.length = 0; // the measurement starts here: all streams are open
  await new Promise((resolve) => setTimeout(resolve, HELD_MS));
  const after = pid === null ? 0 : residentBytes(pid);
  const { events, opened, lost } = held;
  for (const socket of held.sockets) {
    socket.removeAllListeners('close');
    socket.destroy();
  }
  return {
    name,
    opened,
    lost,
    eventsPerStream: events / Math.max(1, opened),
    rssBytesPerStream: pid === null ? null : (after - before) / Math.max(1, opened),
    delayP50Ms: percentile(held.delaysMs, 50),
    delayP99Ms: percentile(held.delaysMs, 99),
  };
}

function openOne(origin: string, request: string, held: Held): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = openSocket(origin);
    socket.write(request);
    const timer = setTimeout(resolve, OPEN_TIMEOUT_MS, socket);
    let first = true;
    socket.on('data', (chunk: Buffer) => {
      if (first) {
        first = false;
        clearTimeout(timer);
        if (chunk.includes('200 OK')) held.opened++;
        resolve(socket);
      }
      const now = Date.now();
      for (const [, sent] of chunk.toString('latin1').matchAll(SENT)) {
        held.events++;
        held.delaysMs.push(now - Number(sent));
      }
    });
    socket.on('error', () => {}); // `close` follows
    socket.on('close', () => {
      held.lost++;
      resolve(socket);
    });
  });
}

function tableRow(figure: StreamsFigure): Readonly<Record<string, unknown>> {
  const { name, opened, lost, eventsPerStream, rssBytesPerStream, delayP50Ms, delayP99Ms } = figure;
  return {
    name,
    opened,
    lost,
    'events per stream': rounded(eventsPerStream),
    'RSS KiB per stream': rounded(rssBytesPerStream === null ? null : rssBytesPerStream / KIB),
    'delay p50 ms': delayP50Ms,
    'delay p99 ms': delayP99Ms,
  };
}
