import type { DynamicShare } from '@acg/base/fairness/dynamic-share';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bodyMemoryOf, createBufferedBodyShare } from '../concurrency/buffered-body-memory.js';
import { RequestBody } from './buffered-or-streamed-request-body.js';

const BUFFERED = 10;
const WHOLE = 100;
const BUDGET = 250;

type Step =
  | { do: 'arrive'; nth: number; bytes: number; last: boolean }
  | { do: 'stream'; nth: number } // the exchange streams a body that does not fit
  | { do: 'take'; nth: number } // … or takes a complete body
  | { do: 'read'; nth: number } // the upstream reads all queued bytes
  | { do: 'end'; nth: number }; // the agent disconnected or received its response

const nth = fc.nat(5);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('arrive' as const),
      nth,
      bytes: fc.nat(60),
      last: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('stream' as const), nth }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('take' as const), nth }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('read' as const), nth }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const), nth }) },
);

class Upload {
  paused = false;
  ended = false;
  stream: ReturnType<RequestBody['toStream']> | null = null;
  readonly body: RequestBody;

  constructor(budget: DynamicShare) {
    const source = {
      pause: () => {
        this.paused = true;
      },
      resume: () => {
        this.paused = false;
      },
    };
    this.body = new RequestBody(source, BUFFERED);
    this.body.bufferWhole(WHOLE, bodyMemoryOf(budget, 'org-1'));
  }
}

test('request body: reserved memory matches the buffered bytes and is fully released after any order of events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
      const budget = createBufferedBodyShare(BUDGET, BUDGET);
      const uploads = Array.from({ length: 6 }, () => new Upload(budget));
      for (const { nth, ...event } of steps) {
        const upload = uploads[nth]!;
        await apply(upload, event);
        // A body buffered beyond the limit of every body has memory reserved for each of its bytes.
        const held = uploads.filter(({ body, stream, ended }) => !ended && stream === null && !body.isReady);
        const bytes = held.reduce((sum, { body }) => sum + (body.bytes > BUFFERED ? body.bytes : 0), 0);
        expect(budget.free).toBeGreaterThanOrEqual(0);
        expect(BUDGET - budget.free).toBeGreaterThanOrEqual(bytes);
      }
      for (const { body } of uploads) body.discard();
      expect(budget.free).toBe(BUDGET);
    }),
  );
});

async function apply(upload: Upload, event: Omit<Step, 'nth'> & { bytes?: number; last?: boolean }): Promise<void> {
  const { body } = upload;
  if (event.do === 'arrive' && !body.isComplete) body.push(new ArrayBuffer(event.bytes!), event.last!);
  if (upload.ended) return;
  if (event.do === 'stream' && body.isReady) upload.stream ??= body.toStream();
  if (event.do === 'take' && body.isComplete && upload.stream === null) body.takeWhole();
  if (event.do === 'read') while (upload.stream?.read() != null);
  if (event.do === 'end') {
    upload.ended = true;
    body.discard();
  }
}

test('request body: releases the memory of sent bytes while the rest still arrives', () => {
  const budget = createBufferedBodyShare(BUDGET, BUDGET);
  const { body } = new Upload(budget);
  body.push(new ArrayBuffer(90), false);
  expect(budget.free).toBe(BUDGET - 90);
  body.push(new ArrayBuffer(20), false); // more than can be edited
  expect(body.hasOverflowed).toBe(true);
  const stream = body.toStream();
  expect(budget.free).toBe(BUDGET - 90);
  while (stream.read() !== null);
  expect(budget.free).toBe(BUDGET);
  body.push(new ArrayBuffer(50), false);
  expect(budget.free).toBe(BUDGET);
});

test('request body: a paused body resumes when it must be buffered whole and memory allows', () => {
  const budget = createBufferedBodyShare(50, 50);
  let paused = false;
  const source = {
    pause: () => {
      paused = true;
    },
    resume: () => {
      paused = false;
    },
  };
  const body = new RequestBody(source, BUFFERED);
  body.push(new ArrayBuffer(40), false);
  expect([body.hasOverflowed, paused]).toEqual([true, true]);
  body.bufferWhole(WHOLE, bodyMemoryOf(budget, 'org-1'));
  expect([body.hasOverflowed, paused, budget.free]).toEqual([false, false, 10]);
  let changes = 0;
  body.onReady = () => void changes++;
  body.push(new ArrayBuffer(11), false);
  expect([body.hasOverflowed, paused, changes]).toEqual([true, true, 1]);
});

test.each([
  ['collected', false],
  ['streamed', true],
])('request body: %s, its end resumes the source, even after a pause', (_how, streamed) => {
  const upload = new Upload(createBufferedBodyShare(0, 0));
  if (streamed) upload.body.toStream();
  // More than the stream's own buffer.
  upload.body.push(new ArrayBuffer(300 * 1024), false);
  expect(upload.paused).toBe(true);
  upload.body.push(new ArrayBuffer(1), true);
  expect(upload.paused).toBe(false);
  upload.body.discard();
});

test('body memory: one organization gets a quarter, or one body, and the others the rest', () => {
  const budget = createBufferedBodyShare(100, 10);
  const [a, b] = [bodyMemoryOf(budget, 'a'), bodyMemoryOf(budget, 'b')];
  expect([a.reserve(20), bodyMemoryOf(budget, 'a').reserve(6), a.reserve(5), b.reserve(25)]).toEqual([
    true,
    false,
    true,
    true,
  ]);
  a.release(25);
  expect([bodyMemoryOf(budget, 'a').reserve(25), budget.free]).toEqual([true, 50]);
  expect(bodyMemoryOf(createBufferedBodyShare(20, 10), 'a').reserve(10)).toBe(true);
});
