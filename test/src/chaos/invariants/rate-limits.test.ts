import { expect, test } from 'vitest';
import { type CallTrace, createAgentLimits } from '../evidence/history.js';
import { createCall, createObservation, T0 } from './history-fixture.js';
import { checkRateLimits, WINDOW_MS } from './rate-limits.js';

const AGENT = createAgentLimits('narrow', { rpmLimit: 2 });

/** Calls that were sent and seen at these ms. */
function made(times: readonly (readonly [sent: number, seen: number])[], storeAway: readonly [number, number][] = []) {
  const calls: CallTrace[] = times.map(([sent], i) =>
    createCall(String(i), { agent: 'narrow', sentAt: T0 + sent, endedAt: T0 + sent + 1 }),
  );
  const sightings = times.map(([, seen], i) => createObservation(String(i), T0 + seen));
  const gaps = storeAway.map(([from, to]) => ({ from: T0 + from, to: T0 + to }));
  return checkRateLimits({ agents: [AGENT], calls, observations: sightings, storeOutages: gaps });
}

test('limits: as many as allowed in any 60 s are fine, and such a window is counted', () => {
  const { violations: broken, fullWindows } = made([
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
  expect(made(late).violations).toEqual([expect.stringContaining('narrow: 3 calls within 60 s')]);
});

test('limits: a call that may have been admitted outside of the window does not count', () => {
  expect(
    made([
      [0, 1],
      [10, 11],
      [20, WINDOW_MS + 5],
    ]).violations,
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
  expect(made(around).violations).toHaveLength(1);
  expect(made(around, [[25, 40]]).violations).toEqual([]);
});

test('limits: a gap excuses nothing that lies wholly before or after it', () => {
  const after = [
    [50, 51],
    [60, 61],
    [70, 71],
  ] as const;
  expect(made(after, [[25, 40]]).violations).toHaveLength(1);
  expect(made(after, [[80, 90]]).violations).toHaveLength(1);
});

test('limits: calls that did not reach the provider, and those of other agents, do not count', () => {
  const refused = [1, 2, 3].map((i) => createCall(`r${i}`, { agent: 'narrow' }));
  const others = [1, 2, 3].map((i) => createCall(`o${i}`));
  const sightings = others.map(({ id }) => createObservation(id));
  const agents = [AGENT, createAgentLimits('wide')];
  expect(
    checkRateLimits({ agents, calls: [...refused, ...others], observations: sightings, storeOutages: [] }).violations,
  ).toEqual([]);
});

test('limits: a limit per day holds over any time in which the store was there', () => {
  const calls = [0, 2, 4].map((minutes, i) =>
    createCall(String(i), { agent: 'daily', sentAt: T0 + minutes * WINDOW_MS }),
  );
  const sightings = calls.map(({ id, sentAt }) => createObservation(id, sentAt + 1));
  const agents = [createAgentLimits('daily', { rpdLimit: 2 })];
  const look = (storeAway: { from: number; to: number }[]) =>
    checkRateLimits({ agents, calls, observations: sightings, storeOutages: storeAway }).violations;
  expect(look([])).toEqual([expect.stringContaining('daily: 3 calls within a day')]);
  expect(look([{ from: T0 + WINDOW_MS, to: T0 + WINDOW_MS + 1 }])).toEqual([]);
});
