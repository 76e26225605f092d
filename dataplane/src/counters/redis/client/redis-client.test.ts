import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { parseRedisAddress } from './redis-address.js';
import { RedisClient } from './redis-client.js';

test('redis client: reconnect does not throw while a sentinel is still queried for the server', async () => {
  const sockets: Socket[] = [];
  const sentinel = createServer((socket) => void sockets.push(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(sentinel, 'listening');
  const { port } = sentinel.address() as AddressInfo;
  const address = parseRedisAddress(`redis+sentinel://127.0.0.1:${port}/primary`)!;
  const options = { ...address, connectionName: 'test', tlsCa: null };
  const client = new RedisClient(options, { onConnected: () => {}, onError: () => {} });
  expect(() => client.reconnect(0)).not.toThrow();
  client.close();
  sentinel.close();
  for (const socket of sockets) socket.destroy();
});
