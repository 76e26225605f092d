/**
 * The plane link returns decrypted credentials: every method, generated from the service's own description, rejects
 * callers without INTERNAL_TOKEN.
 */
import { grpcStatus } from '@acg/proto/control-plane-client';
import { credentials, Metadata } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';
import { AUTHORIZED_STATUSES, callStatus, LINK_METHODS } from './link-methods.js';

const plane = useControlPlane({ LOG_LEVEL: 'info' });

const withHeader = (value: string): Metadata => {
  const metadata = new Metadata();
  metadata.set('authorization', value);
  return metadata;
};

const REJECTED_CALLERS: readonly [string, () => Metadata][] = [
  ['nothing', () => new Metadata()],
  ['an empty token', () => withHeader('Bearer ')],
  ['another token', () => withHeader(`Bearer ${'x'.repeat(41)}`)],
  ['the token with something behind it', () => withHeader(`Bearer ${plane().env.INTERNAL_TOKEN}x`)],
  ['the beginning of the token', () => withHeader(`Bearer ${plane().env.INTERNAL_TOKEN!.slice(0, -1)}`)],
  ['the token in another scheme', () => withHeader(`Basic ${plane().env.INTERNAL_TOKEN}`)],
];

for (const [name, method] of LINK_METHODS) {
  const statusFor = (metadata: Metadata): Promise<number> =>
    callStatus(method, plane().grpcAddress, credentials.createInsecure(), metadata);

  for (const [what, metadata] of REJECTED_CALLERS) {
    test(`plane link: ${name} rejects a caller with ${what}`, async () => {
      expect(await statusFor(metadata())).toBe(grpcStatus.UNAUTHENTICATED);
    });
  }

  test(`plane link: ${name} accepts a data plane`, async () => {
    expect(AUTHORIZED_STATUSES).toContain(await statusFor(withHeader(`Bearer ${plane().env.INTERNAL_TOKEN}`)));
  });
}

test('plane link: rejections are logged without the token', () => {
  const lines = plane().logLines.join('');
  expect(lines).toContain('gRPC call rejected');
  expect(lines).not.toContain('x'.repeat(41));
});
