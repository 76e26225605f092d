import { expect, test } from 'vitest';
import { InvalidInput } from '../domain/errors.js';
import { OrganizationBatches } from './organization-batches.js';

/** A handler whose batches the test releases one by one. */
function createHeldHandler() {
  const batches: { readonly orgId: string; readonly requests: readonly string[]; release(): void }[] = [];
  let onBatch: () => void = () => {};
  const handle = (orgId: string, requests: readonly string[]) =>
    new Promise<readonly (string | Error)[]>((resolve, reject) => {
      const release = (): void =>
        requests.includes('poison')
          ? reject(new Error('duplicate key'))
          : resolve(requests.map((one) => (one === 'bad' ? new InvalidInput('bad') : `${one} done`)));
      batches.push({ orgId, requests, release });
      onBatch();
    });
  const next = async (): Promise<(typeof batches)[number]> => {
    while (batches.length === 0) await new Promise<void>((resolve) => (onBatch = resolve));
    return batches.shift()!;
  };
  return { handle, next, pending: () => batches.length };
}

test('requests that arrive while a batch runs share the next one; other organizations do not wait', async () => {
  const { handle, next, pending } = createHeldHandler();
  const batches = new OrganizationBatches(handle);
  const first = batches.add('a', '1');
  const batch = await next();
  const others = ['2', '3'].map((one) => batches.add('a', one));
  const foreign = batches.add('b', '4');
  const ofB = await next();
  expect(ofB).toMatchObject({ orgId: 'b', requests: ['4'] });
  ofB.release();
  expect(await foreign).toBe('4 done');
  expect(pending()).toBe(0);
  batch.release();
  expect(await first).toBe('1 done');
  const second = await next();
  expect(second.requests).toEqual(['2', '3']);
  second.release();
  expect(await Promise.all(others)).toEqual(['2 done', '3 done']);
});

test('an error of one request and a failed batch concern no other request', async () => {
  const { handle, next } = createHeldHandler();
  const batches = new OrganizationBatches(handle);
  const all = ['1', 'bad', 'poison', '2'].map((one) => batches.add('a', one).catch((error: Error) => error.message));
  (await next()).release();
  for (let i = 0; i < 4; i++) {
    const one = await next();
    expect(one.requests).toHaveLength(1);
    one.release();
  }
  expect(await Promise.all(all)).toEqual(['1 done', 'bad', 'duplicate key', '2 done']);
});

test('a batch has at most 64 requests; the organization is forgotten afterwards', async () => {
  const { handle, next, pending } = createHeldHandler();
  const batches = new OrganizationBatches(handle);
  const all = Array.from({ length: 100 }, (_, i) => batches.add('a', String(i)));
  const sizes: number[] = [];
  for (let left = 100; left > 0; ) {
    const batch = await next();
    sizes.push(batch.requests.length);
    left -= batch.requests.length;
    batch.release();
  }
  await Promise.all(all);
  expect(sizes).toEqual([64, 36]);
  const again = batches.add('a', 'again');
  (await next()).release();
  expect(await again).toBe('again done');
  expect(pending()).toBe(0);
});
