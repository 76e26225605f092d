import { expect, test } from 'vitest';
import { deduplicateWrites } from './deduplicate-writes.js';

const URL = 'http://gateway.example/v1/api-keys';
const post = (body: object): Request => new Request(URL, { method: 'POST', body: JSON.stringify(body) });

/** Answers when it is told to, with what was sent and how many were. */
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
    answerAll: () => {
      for (const answer of waiting.splice(0)) answer(sent);
    },
  };
}

test('a write that is asked for twice at once is sent once, and both get its answer', async () => {
  const { send, sent, answerAll } = createFakeServer();
  const write = deduplicateWrites(send);
  const both = [write(post({ name: 'first' })), write(post({ name: 'first' }))];
  await expect.poll(sent).toBe(1);
  answerAll();
  expect(await Promise.all(both.map(async (one) => (await one).json()))).toEqual([
    { body: { name: 'first' }, number: 1 },
    { body: { name: 'first' }, number: 1 },
  ]);
});

test('another body is another write, and so is the same one when the first has its answer', async () => {
  const { send, sent, answerAll } = createFakeServer();
  const write = deduplicateWrites(send);
  const both = [write(post({ name: 'a' })), write(post({ name: 'b' }))];
  await expect.poll(sent).toBe(2);
  answerAll();
  await Promise.all(both);
  const again = write(post({ name: 'a' }));
  await expect.poll(sent).toBe(3);
  answerAll();
  await again;
});

test('a write that failed can be tried again', async () => {
  let sent = 0;
  const write = deduplicateWrites(() => {
    sent++;
    return sent === 1 ? Promise.reject(new TypeError('no answer')) : Promise.resolve(Response.json({ sent }));
  });
  await expect(write(post({}))).rejects.toThrow('no answer');
  expect(await (await write(post({}))).json()).toEqual({ sent: 2 });
});
