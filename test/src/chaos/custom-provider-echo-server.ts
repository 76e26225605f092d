/**
 * A tenant's custom provider. Its paths carry the id of each call: `PUT /sink/{id}` hashes the body, `GET /echo/{id}`
 * returns every request header including the credential, and a WebSocket on `/ws/{id}` echoes its messages.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { WebSocketServer } from 'ws';
import type { ProviderJournal } from './evidence/provider-journal.js';

const ECHO_PIECE_CHARS = 7;

export function startCustomProvider(port: number, key: string, journal: ProviderJournal): Promise<Server> {
  const server = createServer((request, response) => {
    handleRequest(request, response, key, journal).catch(() => response.destroy());
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {});
    if (request.headers.authorization !== `Bearer ${key}`) {
      socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
      return;
    }
    const id = callIdOf(request);
    journal.recordArrival(id);
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.on('error', () => {});
      client.on('message', (data, isBinary) => client.send(data, { binary: isBinary }));
      client.on('close', () => journal.recordAnswered(id));
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

const callIdOf = (request: IncomingMessage): string => (request.url ?? '').split('/').at(-1) ?? '';

async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  key: string,
  journal: ProviderJournal,
): Promise<void> {
  const id = callIdOf(request);
  journal.recordArrival(id);
  response.once('finish', () => journal.recordAnswered(id));
  const hash = createHash('sha256');
  for await (const chunk of request as AsyncIterable<Buffer>) hash.update(chunk);
  response.setHeader('content-type', 'application/json');
  if (request.headers.authorization !== `Bearer ${key}`) {
    response.writeHead(401).end('{"error":"wrong key"}');
    return;
  }
  if (request.method === 'PUT') {
    response.end(JSON.stringify({ sha256: hash.digest('hex') }));
    return;
  }
  response.setHeader('x-echo-authorization', request.headers.authorization);
  const text = JSON.stringify(request.headers);
  for (let at = 0; at < text.length; at += ECHO_PIECE_CHARS) {
    response.write(text.slice(at, at + ECHO_PIECE_CHARS));
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}
