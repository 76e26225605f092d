/**
 * The internal link hands out decrypted credentials: every call of it, generated from the service's own description, is
 * refused to whoever does not know INTERNAL_TOKEN.
 */
import { linkStatus } from '@acg/proto/client';
import { gatewayService } from '@acg/proto/service';
import { Client, credentials, Metadata, type MethodDefinition } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { useControlPlane } from '../control-plane.js';

const plane = useControlPlane({ LOG_LEVEL: 'info' });

type Method = MethodDefinition<object, object>;
const METHODS = Object.entries(gatewayService) as unknown as readonly [string, Method][];

/** The status with which a call ends that is cut off after its first answer. */
function statusOf(method: Method, metadata: Metadata): Promise<number> {
  const client = new Client(plane().grpcAddress, credentials.createInsecure());
  const options = { deadline: Date.now() + 20_000 };
  const { path, requestSerialize, responseDeserialize } = method;
  return new Promise<number>((resolve) => {
    if (method.responseStream) {
      const call = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, {}, metadata, options);
      call.on('data', () => {
        resolve(linkStatus.OK);
        call.cancel();
      });
      call.on('error', (error: Error & { code: number }) => resolve(error.code));
    } else {
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, {}, metadata, options, (error) =>
        resolve(error?.code ?? linkStatus.OK),
      );
    }
  }).finally(() => client.close());
}

const withHeader = (value: string): Metadata => {
  const metadata = new Metadata();
  metadata.set('authorization', value);
  return metadata;
};

const STRANGERS: readonly [string, () => Metadata][] = [
  ['nothing', () => new Metadata()],
  ['an empty token', () => withHeader('Bearer ')],
  ['another token', () => withHeader(`Bearer ${'x'.repeat(41)}`)],
  ['the token with something behind it', () => withHeader(`Bearer ${plane().env.INTERNAL_TOKEN}x`)],
  ['the beginning of the token', () => withHeader(`Bearer ${plane().env.INTERNAL_TOKEN!.slice(0, -1)}`)],
  ['the token in another scheme', () => withHeader(`Basic ${plane().env.INTERNAL_TOKEN}`)],
];

for (const [name, method] of METHODS) {
  for (const [what, metadata] of STRANGERS) {
    test(`${name} is refused to a caller with ${what}`, async () => {
      expect(await statusOf(method, metadata())).toBe(linkStatus.UNAUTHENTICATED);
    });
  }

  test(`${name} is open to a data plane`, async () => {
    const status = await statusOf(method, withHeader(`Bearer ${plane().env.INTERNAL_TOKEN}`));
    // An empty request may be refused for what it lacks, but by the handler.
    expect([linkStatus.OK, linkStatus.INVALID_ARGUMENT]).toContain(status);
  });
}

test('refusals are logged without the token that was tried', () => {
  const lines = plane().logLines.join('');
  expect(lines).toContain('gRPC call refused');
  expect(lines).not.toContain('x'.repeat(41));
});
