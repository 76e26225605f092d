import { expect, test } from 'vitest';
import { type CallTrace, termsOf } from '../history.js';
import { limitsKept, WINDOW_MS } from './limits.js';
import { call, sighting, T0 } from './made-history.js';

const AGENT = termsOf('narrow', { rpmLimit: 2 });

/** Calls that were sent and seen at these ms. */
function made(times: readonly (readonly [sent: number, seen: number])[], storeAway: readonly [number, number][] = []) {
  const calls: CallTrace[] = times.map(([sent], i) =>
    call(String(i), { agent: 'narrow', sentAt: T0 + sent, endedAt: T0 + sent + 1 }),
  );
  const sightings = times.map(([, seen], i) => sighting(String(i), T0 + seen));
  const gaps = storeAway.map(([from, to]) => ({ from: T0 + from, to: T0 + to }));
  return limitsKept({ agents: [AGENT], calls, sightings, storeAway: gaps });
}

test('limits: as many as allowed in any 60 s are fine, and such a window is counted', () => {
  const { broken, fullWindows } = made([
    [0, 1],
    [10, 11],
    [WINDOW_MS, WINDOW_MS + 1],
  ]);
  expect(broken).toEqual([]);
  expect(fullWindows).toBe(2);
});

test('limits: one more than allowed is a violation, wherever its 60 s begin', () => {
  const late = [
    [0, 1],
    [WINDOW_MS - 10, WINDOW_MS - 9],
    [WINDOW_MS + 10, WINDOW_MS + 11],
    [WINDOW_MS + 20, WINDOW_MS + 21],
  ] as const;
  expect(made(late).broken).toEqual([expect.stringContaining('narrow: 3 calls within 60 s')]);
});

test('limits: a call that may have been admitted outside of the window does not count', () => {
  expect(
    made([
      [0, 1],
      [10, 11],
      [20, WINDOW_MS + 5],
    ]).broken,
  ).toEqual([]);
});

test('limits: what passed while the store was away does not count, and counts begin anew behind it', () => {
  const around = [
    [0, 1],
    [10, 11],
    [30, 31],
    [50, 51],
    [60, 61],
  ] as const;
  expect(made(around).broken).toHaveLength(1);
  expect(made(around, [[25, 40]]).broken).toEqual([]);
});

test('limits: a gap excuses nothing that lies wholly before or after it', () => {
  const after = [
    [50, 51],
    [60, 61],
    [70, 71],
  ] as const;
  expect(made(after, [[25, 40]]).broken).toHaveLength(1);
  expect(made(after, [[80, 90]]).broken).toHaveLength(1);
});

test('limits: calls that did not reach the provider, and those of other agents, do not count', () => {
  const refused = [1, 2, 3].map((i) => call(`r${i}`, { agent: 'narrow' }));
  const others = [1, 2, 3].map((i) => call(`o${i}`));
  const sightings = others.map(({ id }) => sighting(id));
  const agents = [AGENT, termsOf('wide')];
  expect(limitsKept({ agents, calls: [...refused, ...others], sightings, storeAway: [] }).broken).toEqual([]);
});

test('limits: a limit per day holds over any time in which the store was there', () => {
  const calls = [0, 2, 4].map((minutes, i) => call(String(i), { agent: 'daily', sentAt: T0 + minutes * WINDOW_MS }));
  const sightings = calls.map(({ id, sentAt }) => sighting(id, sentAt + 1));
  const agents = [termsOf('daily', { rpdLimit: 2 })];
  const look = (storeAway: { from: number; to: number }[]) =>
    limitsKept({ agents, calls, sightings, storeAway }).broken;
  expect(look([])).toEqual([expect.stringContaining('daily: 3 calls within a day')]);
  expect(look([{ from: T0 + WINDOW_MS, to: T0 + WINDOW_MS + 1 }])).toEqual([]);
});
