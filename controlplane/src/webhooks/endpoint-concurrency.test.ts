import { expect, test } from 'vitest';
import { EndpointConcurrency } from './endpoint-concurrency.js';

const TIMEOUT_MS = 1_000;

test('endpoint concurrency: running attempts use up the slots of their endpoint and release them', () => {
  const concurrency = new EndpointConcurrency(TIMEOUT_MS);
  for (let i = 0; i < concurrency.slotsPerEndpoint; i++) concurrency.onStarted('a');
  concurrency.onStarted('b');
  expect(concurrency.restrictedEndpoints()).toEqual([
    { endpointId: 'a', freeSlots: 0 },
    { endpointId: 'b', freeSlots: concurrency.slotsPerEndpoint - 1 },
  ]);
  for (let i = 0; i < concurrency.slotsPerEndpoint; i++) concurrency.onFinished('a', 5);
  concurrency.onFinished('b', 5);
  expect(concurrency.restrictedEndpoints()).toEqual([]);
});

test('endpoint concurrency: a slow endpoint has one slot until it responds in time again', () => {
  const concurrency = new EndpointConcurrency(TIMEOUT_MS);
  concurrency.onStarted('a');
  concurrency.onFinished('a', TIMEOUT_MS);
  expect(concurrency.restrictedEndpoints()).toEqual([{ endpointId: 'a', freeSlots: 1 }]);
  concurrency.onStarted('a');
  expect(concurrency.restrictedEndpoints()).toEqual([{ endpointId: 'a', freeSlots: 0 }]);
  concurrency.onFinished('a', 5);
  expect(concurrency.restrictedEndpoints()).toEqual([]);
});
