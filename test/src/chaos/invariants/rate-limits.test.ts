import { expect, test } from 'vitest';
import { type CallTrace, createAgentLimits } from '../evidence/evidence-types.js';
import { createCall, createObservation, T0 } from './history-fixture.js';
import { checkRateLimits, WINDOW_MS } from './rate-limits.js';

const AGENT = createAgentLimits('narrow', { rpmLimit: 2 });

/** Checks calls that were sent and received at these ms. */
function history(
  times: readonly (readonly [sent: number, seen: number])[],
  storeOutages: readonly [number, number][] = [],
) {
  const calls: CallTrace[] = times.map(([sent], i) =>
    createCall(String(i), { agent: 'narrow', sentAt: T0 + sent, endedAt: T0 + sent + 1 }),
  );
  const observations = times.map(([, seen], i) => createObservation(String(i), T0 + seen));
  const gaps = storeOutages.map(([from, to]) => ({ from: T0 + from, to: T0 + to }));
  return checkRateLimits({ agents: [AGENT], calls, observations, storeOutages: gaps });
}

test('rate limits: accepts as many calls as allowed in any 60 s, and counts such windows', () => {
  const { violations, fullWindows } = history([
    [0, 1],
    [10, 11],
    [WINDOW_MS, WINDOW_MS + 1],
  ]);
  expect(violations).toEqual([]);
  expect(fullWindows).toBe(2);
});

test('rate limits: reports one call more than allowed, wherever its 60 s begin', () => {
  const late = [
    [0, 1],
    [WINDOW_MS - 10, WINDOW_MS - 9],
    [WINDOW_MS + 10, WINDOW_MS + 11],
    [WINDOW_MS + 20, WINDOW_MS + 21],
  ] as const;
  expect(history(late).violations).toEqual([expect.stringContaining('narrow: 3 calls within 60 s')]);
});

test('rate limits: ignores a call that may have been admitted outside of the window', () => {
  expect(
    history([
      [0, 1],
      [10, 11],
      [20, WINDOW_MS + 5],
    ]).violations,
  ).toEqual([]);
});

test('rate limits: ignores calls during a store outage, and starts a new count after it', () => {
  const around = [
    [0, 1],
    [10, 11],
    [30, 31],
    [50, 51],
    [60, 61],
  ] as const;
  expect(history(around).violations).toHaveLength(1);
  expect(history(around, [[25, 40]]).violations).toEqual([]);
});

test('rate limits: an outage exempts no calls before or after it', () => {
  const after = [
    [50, 51],
    [60, 61],
    [70, 71],
  ] as const;
  expect(history(after, [[25, 40]]).violations).toHaveLength(1);
  expect(history(after, [[80, 90]]).violations).toHaveLength(1);
});

test('rate limits: ignores calls that did not reach the provider, and calls of other agents', () => {
  const rejected = [1, 2, 3].map((i) => createCall(`r${i}`, { agent: 'narrow' }));
  const others = [1, 2, 3].map((i) => createCall(`o${i}`));
  const observations = others.map(({ id }) => createObservation(id));
  const agents = [AGENT, createAgentLimits('wide')];
  expect(
    checkRateLimits({ agents, calls: [...rejected, ...others], observations, storeOutages: [] }).violations,
  ).toEqual([]);
});

test('rate limits: a limit per day holds over any time without an outage', () => {
  const calls = [0, 2, 4].map((minutes, i) =>
    createCall(String(i), { agent: 'daily', sentAt: T0 + minutes * WINDOW_MS }),
  );
  const observations = calls.map(({ id, sentAt }) => createObservation(id, sentAt + 1));
  const agents = [createAgentLimits('daily', { rpdLimit: 2 })];
  const check = (storeOutages: { from: number; to: number }[]) =>
    checkRateLimits({ agents, calls, observations, storeOutages }).violations;
  expect(check([])).toEqual([expect.stringContaining('daily: 3 calls within a day')]);
  expect(check([{ from: T0 + WINDOW_MS, to: T0 + WINDOW_MS + 1 }])).toEqual([]);
});
