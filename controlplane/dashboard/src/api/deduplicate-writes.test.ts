import { expect, test } from 'vitest';
import { deduplicateWrites } from './deduplicate-writes.js';

const URL = 'http://gateway.example/v1/api-keys';
const post = (body: object): Request => new Request(URL, { method: 'POST', body: JSON.stringify(body) });

/** A fake server that answers on request, with the body that it received and the number of requests so far. */
function createFakeServer() {
  const waiting: ((number: number) => void)[] = [];
  let sent = 0;
  return {
    sent: () => sent,
    send: async (request: Request) => {
      const body = await request.json();
      sent++;
      const number = await new Promise<number>((resolve) => waiting.push(resolve));
      return Response.json({ body, number });
    },
    respondToAll: () => {
      for (const respond of waiting.splice(0)) respond(sent);
    },
  };
}

test('sends identical concurrent writes once and gives both callers the response', async () => {
  const { send, sent, respondToAll } = createFakeServer();
  const write = deduplicateWrites(send);
  const both = [write(post({ name: 'first' })), write(post({ name: 'first' }))];
  await expect.poll(sent).toBe(1);
  respondToAll();
  expect(await Promise.all(both.map(async (one) => (await one).json()))).toEqual([
    { body: { name: 'first' }, number: 1 },
    { body: { name: 'first' }, number: 1 },
  ]);
});

test('sends writes with different bodies separately, and repeats a write after its response', async () => {
  const { send, sent, respondToAll } = createFakeServer();
  const write = deduplicateWrites(send);
  const both = [write(post({ name: 'a' })), write(post({ name: 'b' }))];
  await expect.poll(sent).toBe(2);
  respondToAll();
  await Promise.all(both);
  const again = write(post({ name: 'a' }));
  await expect.poll(sent).toBe(3);
  respondToAll();
  await again;
});

test('sends a failed write again on retry', async () => {
  let sent = 0;
  const write = deduplicateWrites(() => {
    sent++;
    return sent === 1 ? Promise.reject(new TypeError('no response')) : Promise.resolve(Response.json({ sent }));
  });
  await expect(write(post({}))).rejects.toThrow('no response');
  expect(await (await write(post({}))).json()).toEqual({ sent: 2 });
});
