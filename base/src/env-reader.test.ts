import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

test('env reader: a secret may be in a file; both forms at once and an unreadable file are problems', () => {
  const home = mkdtempSync(join(tmpdir(), 'acg-env-'));
  try {
    const file = join(home, 'secret');
    writeFileSync(file, `${'s'.repeat(40)}\n`);
    const read = new EnvReader({ JWT_SECRET_FILE: file, SMTP_URL: 'smtp://mail', NAME_FILE: file });
    expect(read.secrets('JWT_SECRET').map((secret) => secret.reveal())).toEqual(['s'.repeat(40)]);
    expect([read.optional('SMTP_URL'), read.optional('NAME'), read.files]).toEqual(['smtp://mail', null, [file]]);
    read.throwIfInvalid();

    const both = new EnvReader({ SMTP_URL: 'smtp://mail', SMTP_URL_FILE: file });
    both.optional('SMTP_URL');
    expect(() => both.throwIfInvalid()).toThrow('SMTP_URL and SMTP_URL_FILE are both set: set one of them');
    const missing = new EnvReader({ REDIS_URL_FILE: join(home, 'none') });
    expect(missing.optional('REDIS_URL')).toBe(null);
    expect(() => missing.throwIfInvalid()).toThrow(/^REDIS_URL_FILE: ENOENT/);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
