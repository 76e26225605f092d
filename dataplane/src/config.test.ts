import { NO_CELL } from '@acg/base/cells';
import { ConfigError } from '@acg/base/env-reader';
import { expect, test } from 'vitest';
import { loadConfig } from './config.js';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const LINK = { INTERNAL_TOKEN: 'x'.repeat(32), REDIS_URL: 'redis://127.0.0.1' };

test.each([
  ['a pod of 2 GiB', 2 * GIB, {}, 128, 4 * MIB, 256 * MIB],
  ['two workers share it', 2 * GIB, { DATAPLANE_WORKERS: '2' }, 64, 4 * MIB, 128 * MIB],
  ['small messages', 2 * GIB, { WEBSOCKET_MESSAGE_BYTES_MAX: '65536' }, 8_192, 65_536, 256 * MIB],
  [
    'never more than calls',
    2 * GIB,
    { WEBSOCKET_MESSAGE_BYTES_MAX: '65536', MAX_INFLIGHT: '99' },
    99,
    65_536,
    256 * MIB,
  ],
  ['a tiny pod', 128 * MIB, {}, 16, 4 * MIB, 64 * MIB],
  ['the operator knows better', 2 * GIB, { MAX_WEBSOCKETS: '5000' }, 5_000, 4 * MIB, 256 * MIB],
  ['large messages', 2 * GIB, { WEBSOCKET_MESSAGE_BYTES_MAX: `${16 * MIB}` }, 32, 16 * MIB, 256 * MIB],
])(
  'config: derives the WebSocket limits from memory: %s',
  (_what, memoryBytes, env, webSocketsMax, webSocketMessageBytesMax, webSocketPoolBytes) => {
    expect(loadConfig({ ...LINK, ...env }, memoryBytes)).toMatchObject({
      webSocketsMax,
      webSocketMessageBytesMax,
      webSocketPoolBytes,
    });
  },
);

test.each([
  ['WEBSOCKET_MESSAGE_BYTES_MAX', '65535'],
  ['WEBSOCKET_MESSAGE_BYTES_MAX', '16777217'],
  ['MAX_WEBSOCKETS', '0'],
])('config: rejects %s=%s', (name, value) => {
  const load = () => loadConfig({ ...LINK, [name]: value });
  expect(load).toThrow(ConfigError);
  expect(load).toThrow(name);
});

test('config: a cell has a name and a share, and a Redis', () => {
  const cell = { CELL_NAME: 'eu-west', CELL_SHARE_PERCENT: '40' };
  expect(loadConfig({ ...LINK, ...cell }).cell).toEqual({ name: 'eu-west', sharePercent: 40 });
  expect(loadConfig(LINK).cell).toEqual(NO_CELL);
  expect(() => loadConfig({ INTERNAL_TOKEN: LINK.INTERNAL_TOKEN, ...cell })).toThrow('CELL_NAME needs REDIS_URL');
  for (const name of ['EU', 'a/b', '-a', 'a-', 'a'.repeat(33)])
    expect(() => loadConfig({ ...LINK, CELL_NAME: name })).toThrow('CELL_NAME must have');
});
