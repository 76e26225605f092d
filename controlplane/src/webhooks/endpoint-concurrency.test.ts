import { expect, test } from 'vitest';
import { EndpointConcurrency } from './endpoint-concurrency.js';

const TIMEOUT_MS = 1_000;

test('endpoint concurrency: running attempts use up the room of their endpoint and give it back', () => {
  const concurrency = new EndpointConcurrency(TIMEOUT_MS);
  for (let i = 0; i < concurrency.room; i++) concurrency.started('a');
  concurrency.started('b');
  expect(concurrency.restricted()).toEqual([
    { endpointId: 'a', room: 0 },
    { endpointId: 'b', room: concurrency.room - 1 },
  ]);
  for (let i = 0; i < concurrency.room; i++) concurrency.finished('a', 5);
  concurrency.finished('b', 5);
  expect(concurrency.restricted()).toEqual([]);
});

test('endpoint concurrency: an endpoint that was slow has room for one until it answers in time again', () => {
  const concurrency = new EndpointConcurrency(TIMEOUT_MS);
  concurrency.started('a');
  concurrency.finished('a', TIMEOUT_MS);
  expect(concurrency.restricted()).toEqual([{ endpointId: 'a', room: 1 }]);
  concurrency.started('a');
  expect(concurrency.restricted()).toEqual([{ endpointId: 'a', room: 0 }]);
  concurrency.finished('a', 5);
  expect(concurrency.restricted()).toEqual([]);
});
