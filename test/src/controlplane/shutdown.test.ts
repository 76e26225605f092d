/** The control plane stops by itself, whatever clients keep open. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { startControlPlane } from '../fixtures/control-plane.js';

async function openSocket(url: string, text: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

/** Longer than a test may last. */
const NEVER_MS = 86_400_000;

test.each([
  ['asks nothing', '', NEVER_MS],
  ['sends half of a header', 'GET /v1/me HTTP/1.1\r\nhos', NEVER_MS],
  [
    'sends no body',
    'POST /v1/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n',
    3_000,
  ],
])('a client that %s does not hold up a stop', async (_what, text, drainMs) => {
  const plane = await startControlPlane({ DRAIN_TIMEOUT_MS: String(drainMs) });
  const { server } = plane.service.app;
  server.timeout = 0; // nothing else closes the connection
  const arrived = text.includes('\r\n\r\n') ? once(server, 'request') : once(server, 'connection');
  const socket = await openSocket(plane.url, text);
  await arrived;
  const ended = once(socket, 'close');
  await plane.stop();
  await ended;
  expect(server.listening).toBe(false);
});
