/**
 * Memory of listening streams of an MCP server beside that of plain event streams, each in a data plane of its own, and
 * how long a revocation takes to end all of them.
 *
 *   node bench/dist/listening-streams.js [STREAMS]
 */
import type { Socket } from 'node:net';
import { type GatewayStack, startGateway } from './gateway-stack.js';
import { openSocket } from './load/open-tcp-or-tls-socket.js';
import { residentBytes } from './process-usage.js';
import { startProvider } from './start-mock-provider.js';
import { tearDown, tearDownOnSignals } from './teardown.js';

const STREAMS = Number(process.argv[2] ?? 1_000);
const OPEN_AT_ONCE = 50;
const OPEN_TIMEOUT_MS = 60_000;
/** Events of all streams pass several times, and garbage is collected. */
const SETTLE_MS = 10_000;
const KIB = 1_024;
const BODY = JSON.stringify({ model: 'gpt-5-mini', stream: true, input: 'hi' });

interface StreamKind {
  readonly name: string;
  /** Request line and headers of its own, and the body. */
  readonly request: string;
}

const KINDS: readonly StreamKind[] = [
  {
    name: 'event stream',
    request: `POST /v1/proxy/openai/v1/responses HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\nTOKEN\r\n\r\n${BODY}`,
  },
  {
    name: 'listening stream',
    request: 'GET /v1/proxy/github-mcp/mcp/ HTTP/1.1\r\naccept: text/event-stream\r\nTOKEN\r\n\r\n',
  },
];

/** Resolves with the first bytes of an accepted stream. */
function openStream(origin: string, request: string): Promise<Socket> {
  const socket = openSocket(origin);
  socket.write(request);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('a stream did not open in time')), OPEN_TIMEOUT_MS);
    socket.once('error', reject);
    socket.once('data', (chunk: Buffer) => {
      clearTimeout(timer);
      if (!chunk.toString('latin1').startsWith('HTTP/1.1 200 ')) reject(new Error(chunk.toString('latin1', 0, 300)));
      socket.on('data', () => undefined);
      resolve(socket);
    });
  });
}

async function openStreams(origin: string, request: string, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const batch = Math.min(OPEN_AT_ONCE, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: batch }, () => openStream(origin, request)))));
  }
  return sockets;
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, SETTLE_MS));

async function measure(gateway: GatewayStack, { name, request }: StreamKind) {
  const { tenant, stack } = gateway;
  const agent = await tenant.createAgent({ rpmLimit: 1_000_000, rpdLimit: 1_000_000_000 });
  await tenant.createAccount(agent.id, 'openai', { apiKey: 'sk-real-0123456789' });
  await tenant.createAccount(agent.id, 'github-mcp', { apiKey: 'github_pat_0123456789abcdefghij' });
  const token = await tenant.createToken(agent.id);
  const { plane, url } = await stack.addDataPlane();
  const text = request.replace('TOKEN', `host: ${new URL(url).host}\r\nauthorization: Bearer ${token}`);
  // The process grows to its usual size with the first streams.
  for (const socket of await openStreams(url, text, OPEN_AT_ONCE)) socket.destroy();
  await settle();
  const before = residentBytes(plane.pid);
  const sockets = await openStreams(url, text, STREAMS);
  await settle();
  const after = residentBytes(plane.pid);
  const ended = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  const revokedAtMs = performance.now();
  const { status } = await tenant.call('PATCH', `/v1/agents/${agent.id}/status`, { status: 'revoked' });
  if (status !== 200) throw new Error(`the revocation was answered ${status}`);
  await ended;
  return {
    stream: name,
    streams: STREAMS,
    'RSS KiB each': Number(((after - before) / STREAMS / KIB).toFixed(1)),
    'all ended after revocation, ms': Math.round(performance.now() - revokedAtMs),
  };
}

tearDownOnSignals();
try {
  const provider = await startProvider();
  const gateway = await startGateway(provider);
  const rows = [];
  for (const kind of KINDS) rows.push(await measure(gateway, kind));
  console.table(rows);
} finally {
  await tearDown();
}
