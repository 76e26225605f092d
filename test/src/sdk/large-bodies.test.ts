/** Bodies too large to buffer: they are streamed in both directions and arrive byte for byte. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LargeBodyProvider, sourceSha256 } from '../stand-in-providers/large-body-sink-and-source.js';
import { InProcessGateway, type ProviderRoute } from './in-process-gateway.js';

const BODY_BYTES = 48 * 1024 * 1024;

let store: LargeBodyProvider;
let gateway: InProcessGateway;
let route: ProviderRoute;

beforeAll(async () => {
  store = await new LargeBodyProvider().start();
  gateway = await InProcessGateway.start([{ slug: 'store', origin: store.origin, credentials: {} }]);
  route = gateway.route('store');
});
afterAll(async () => {
  await gateway.stop();
  await store.close();
});

/** `BYTES` bytes in chunks of varying size, and their hash. */
function randomBodyStream(): { stream: Readable; sha256: () => string } {
  const hash = createHash('sha256');
  function* generate(): Generator<Buffer> {
    const block = Buffer.alloc(100_000, 'pieces of a body ');
    for (let left = BODY_BYTES, size = 1; left > 0; size = (size * 7 + 13) % 100_000) {
      const piece = block.subarray(0, Math.min(left, size + 1));
      hash.update(piece);
      left -= piece.length;
      yield piece;
    }
  }
  return { stream: Readable.from(generate(), { objectMode: false }), sha256: () => hash.digest('hex') };
}

test.each([true, false])('large bodies: an upload arrives complete (content-length: %s)', async (known) => {
  const { stream, sha256 } = randomBodyStream();
  const headers: Record<string, string> = { authorization: `Bearer ${route.key}` };
  if (known) headers['content-length'] = String(BODY_BYTES);
  const answer = await request(`${route.baseUrl}/sink`, { method: 'PUT', headers, body: stream });
  expect(await answer.body.json()).toMatchObject({
    method: 'PUT',
    target: '/sink',
    bytes: BODY_BYTES,
    sha256: sha256(),
  });
});

test('large bodies: a download arrives complete', async () => {
  const headers = { authorization: `Bearer ${route.key}` };
  const answer = await request(`${route.baseUrl}/source/${BODY_BYTES}`, { headers });
  expect(answer.headers['content-length']).toBe(String(BODY_BYTES));
  const hash = createHash('sha256');
  for await (const chunk of answer.body) hash.update(chunk as Buffer);
  expect(hash.digest('hex')).toBe(sourceSha256(BODY_BYTES));
});

test('large bodies: a reader that stops early stops the provider', async () => {
  const before = store.sent;
  const headers = { authorization: `Bearer ${route.key}` };
  const answer = await request(`${route.baseUrl}/source/${64 * BODY_BYTES}`, { headers });
  for await (const chunk of answer.body) if ((chunk as Buffer).length > 0) break;
  expect(store.sent - before).toBeLessThan(BODY_BYTES);
});
