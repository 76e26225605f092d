import { EnvReader } from '@acg/base/env-reader';
import { Metadata } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { createLinkMetadata, isLinkAuthorized, readLinkSecurity } from './link-tls-or-shared-secret.js';

const read = (token: string) => readLinkSecurity(new EnvReader({ INTERNAL_TOKEN: token }), ['127.0.0.1:1']);
const [OLD, NEW] = ['o'.repeat(32), 'n'.repeat(40)] as const;

test('INTERNAL_TOKEN: during a rotation, clients send the new one and servers accept both', () => {
  const [before, both, after] = [read(OLD), read(`${NEW},${OLD}`), read(NEW)];
  const seen = (server: typeof both, client: typeof both) => isLinkAuthorized(server, createLinkMetadata(client));
  expect([seen(both, before), seen(both, both), seen(both, after)]).toEqual([true, true, true]);
  expect([seen(before, before), seen(before, both), seen(after, before), seen(after, both)]).toEqual([
    true,
    false,
    false,
    true,
  ]);
});

test.each([
  ['nothing', null],
  ['an empty token', 'Bearer '],
  ['both at once', `Bearer ${NEW},${OLD}`],
  ['half of one', `Bearer ${OLD.slice(0, 31)}`],
  ['one without Bearer', NEW],
])('INTERNAL_TOKEN: rejects %s', (_name, header) => {
  const metadata = new Metadata();
  if (header !== null) metadata.set('authorization', header);
  expect(isLinkAuthorized(read(`${NEW},${OLD}`), metadata)).toBe(false);
});

test.each([
  ['one', OLD, [OLD]],
  ['two', `${NEW},${OLD}`, [NEW, OLD]],
  ['two with a space between them', `${NEW}, ${OLD}`, [NEW, OLD]],
  ['one with a comma', `${NEW},short`, [`${NEW},short`]],
  ['one with two commas', `${NEW},${OLD},${OLD}`, [`${NEW},${OLD},${OLD}`]],
])('EnvReader.secrets reads %s', (_name, value, expected) => {
  const secrets = new EnvReader({ S: value }).secrets('S');
  expect(secrets.map((secret) => secret.reveal())).toEqual(expected);
});

test('EnvReader.secrets reports a short secret without its value', () => {
  const reader = new EnvReader({ S: 'too,short' });
  reader.secrets('S');
  expect(() => reader.throwIfInvalid()).toThrow(/^S must have at least 32 bytes$/);
});

test('INTERNAL_TOKEN: without it and without certificates, rejects every call', () => {
  expect(isLinkAuthorized({ tls: null, internalTokens: [] }, new Metadata())).toBe(false);
});

test.each([['GRPC_TLS_CA'], ['GRPC_TLS_CERT', 'GRPC_TLS_KEY']])('rejects a configuration with only %s', (...names) => {
  const files = Object.fromEntries(names.map((name) => [name, '/dev/null']));
  const reader = new EnvReader({ ...files, INTERNAL_TOKEN: NEW });
  readLinkSecurity(reader, ['127.0.0.1:1']);
  expect(() => reader.throwIfInvalid()).toThrow('must be set together or not at all');
});
