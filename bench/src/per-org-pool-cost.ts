/**
 * Cost of separate upstream connections per organization: 1 000 organizations with one call every 30 s to one TLS origin, with
 * one shared pool and with one pool each. Prints handshakes, CPU, sockets and memory. Run: `node bench/dist/per-org-pool-cost.js` (3 minutes).
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { ConnectionPools } from '@acg/dataplane/upstream/connections/connection-pools-per-origin-and-owner';
import {
  acquireConnection,
  type Certificate,
  createCertificate,
  createLocalDialer,
  RecordedRequest,
  trustCertificate,
} from '@acg/dataplane/upstream/testing/dialer-recorder-certificate-fixture';

const ORGANIZATIONS = 1_000;
const PERIOD_MS = 30_000;
/** The first round opens the connections; the others show the steady state. */
const ROUNDS = 3;

interface ServerFigures {
  readonly full: number;
  readonly resumed: number;
  readonly sockets: number;
}

/** The origin, in its own process. Responds to each message with its statistics. */
async function serve(certificate: Certificate): Promise<void> {
  const counts = { full: 0, resumed: 0, sockets: 0 };
  const server = createServer({ ...certificate, keepAliveTimeout: 600_000 }, (request, response) => {
    request.resume();
    response.setHeader('keep-alive', 'max=1000'); // no timeout, as with most providers
    response.end('ok');
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    counts[socket.isSessionReused() ? 'resumed' : 'full']++;
    counts.sockets++;
    socket.on('close', () => counts.sockets--);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('message', () => process.send!(counts));
  process.send!((server.address() as AddressInfo).port);
}

async function ask(server: ChildProcess): Promise<ServerFigures> {
  server.send('figures');
  const [figures] = (await once(server, 'message')) as [ServerFigures];
  return figures;
}

async function measure(
  name: string,
  ownerOf: (organization: number) => string,
  certificate: Certificate,
): Promise<void> {
  const server = fork(fileURLToPath(import.meta.url), [JSON.stringify(certificate)]);
  const [port] = (await once(server, 'message')) as [number];
  const pools = new ConnectionPools({ headersTimeoutMs: 60_000, bodyTimeoutMs: 60_000, dialer: createLocalDialer() });
  let before: ServerFigures = { full: 0, resumed: 0, sockets: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const cpu = process.cpuUsage();
    const calls: Promise<unknown>[] = [];
    const startTick = performance.now();
    for (let organization = 0; organization < ORGANIZATIONS; organization++) {
      const waitMs = startTick + (organization * PERIOD_MS) / ORGANIZATIONS - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      const connection = acquireConnection(pools, `https://localhost:${port}`, null, ownerOf(organization));
      calls.push(new RecordedRequest(connection).waitForEnd());
    }
    await Promise.all(calls);
    const { user, system } = process.cpuUsage(cpu);
    const now = await ask(server);
    console.log(
      `${name.padEnd(24)} round ${round + 1}: ${now.full - before.full} full and ${now.resumed - before.resumed} resumed ` +
        `handshakes, ${now.sockets} sockets, ${Math.round((user + system) / ORGANIZATIONS)} µs CPU a call, ` +
        `RSS ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB`,
    );
    before = { ...now };
  }
  pools.closeGracefully();
  server.kill();
}

const given = process.argv[2];
if (given !== undefined) {
  await serve(JSON.parse(given) as Certificate);
} else {
  const certificate = createCertificate('DNS:localhost,IP:127.0.0.1');
  trustCertificate(certificate);
  await measure('one pool for all', () => 'all', certificate);
  await measure('a pool for each', (organization) => `org-${organization}`, certificate);
}
