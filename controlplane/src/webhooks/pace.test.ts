import { expect, test } from 'vitest';
import { Pace } from './pace.js';

const TIMEOUT_MS = 1_000;

test('pace: running attempts use up the room of their endpoint and give it back', () => {
  const pace = new Pace(TIMEOUT_MS);
  for (let i = 0; i < pace.room; i++) pace.started('a');
  pace.started('b');
  expect(pace.restricted()).toEqual([
    { endpointId: 'a', room: 0 },
    { endpointId: 'b', room: pace.room - 1 },
  ]);
  for (let i = 0; i < pace.room; i++) pace.finished('a', 5);
  pace.finished('b', 5);
  expect(pace.restricted()).toEqual([]);
});

test('pace: an endpoint that was slow has room for one until it answers in time again', () => {
  const pace = new Pace(TIMEOUT_MS);
  pace.started('a');
  pace.finished('a', TIMEOUT_MS);
  expect(pace.restricted()).toEqual([{ endpointId: 'a', room: 1 }]);
  pace.started('a');
  expect(pace.restricted()).toEqual([{ endpointId: 'a', room: 0 }]);
  pace.finished('a', 5);
  expect(pace.restricted()).toEqual([]);
});
