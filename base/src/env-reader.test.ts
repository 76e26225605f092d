import { expect, test } from 'vitest';
import { EnvReader } from './env-reader.js';

test('env reader: names the variable whose address ranges are malformed', () => {
  const read = new EnvReader({ GOOD: '10.0.0.0/8, ::1', BAD: '10.0.0.0/8,localhost' });
  expect(read.cidrs('GOOD')).toEqual(['10.0.0.0/8', '::1']);
  expect(() => read.throwIfInvalid()).not.toThrow();
  read.cidrs('BAD');
  expect(() => read.throwIfInvalid()).toThrow(/BAD must be CIDR ranges .* not localhost/);
});

test.each(['127.0.0.1', '9090', ':9090', 'gateway:', '127.0.0.1:65536', '127.0.0.1:x'])(
  'env reader: rejects %s as a listen address',
  (value) => {
    const read = new EnvReader({ GRPC_LISTEN: value });
    read.listenAddress('GRPC_LISTEN', '127.0.0.1:9090');
    expect(() => read.throwIfInvalid()).toThrow(`GRPC_LISTEN must be host:port, not "${value}"`);
  },
);

test.each(['127.0.0.1:0', '0.0.0.0:9090', '[::1]:9090', 'localhost:65535'])('an address to listen on: %s', (value) => {
  const read = new EnvReader({ GRPC_LISTEN: value });
  expect(read.listenAddress('GRPC_LISTEN', '127.0.0.1:9090')).toBe(value);
  read.throwIfInvalid();
});

test('deprecated variables: one warning for each that is set', () => {
  const read = new EnvReader({ OLD_SETTING: '1', EMPTY_SETTING: '' });
  read.deprecate(['OLD_SETTING', 'EMPTY_SETTING', 'UNSET_SETTING']);
  expect(read.warnings).toEqual([expect.stringMatching(/^OLD_SETTING is deprecated and will be ignored/)]);
  read.throwIfInvalid();
});
