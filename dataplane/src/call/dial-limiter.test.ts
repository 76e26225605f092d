/** Bound and order of the dials of one agent to one provider, and what the limiter forgets. */
import { expect, test } from 'vitest';
import type { LimitSnapshot } from '../limits/counters-interface.js';
import { createTestLimits } from '../limits/testing/agent-limits-fixture.js';
import { DialLimiter } from './dial-limiter.js';
import type { RoutedExchange } from './exchange.js';
import { createTestExchange } from './testing/exchange-fixture.js';

const AGENT_LIMITS = createTestLimits({ agentId: 'agent-1' });

const withRemaining = (remaining: number): LimitSnapshot => ({
  takenAtSec: 0,
  spends: [],
  windows: [{ providerSlug: 'openai', remaining: [remaining], resetAtSec: [null], rejection: null }],
});

/** A limiter whose reads of the limits wait until the test answers them. */
class Harness {
  readonly reads: ((snapshot: LimitSnapshot | null) => void)[] = [];
  readonly limiter = new DialLimiter({ peek: (_request, done) => void this.reads.push(done) }, 60_000);
  /** Calls that were allowed to dial, in this order. */
  readonly dialing: RoutedExchange[] = [];

  enter(providerSlug = 'openai'): RoutedExchange {
    const context = { agentId: 'agent-1', agentLimits: AGENT_LIMITS };
    const exchange = createTestExchange({ routed: { context, upstream: { providerSlug } } });
    this.limiter.enter(exchange, AGENT_LIMITS, 0, {
      onMayDial: (call) => void this.dialing.push(call),
      onTimedOut: () => {},
    });
    return exchange;
  }

  /** Answers the last read. */
  answer(snapshot: LimitSnapshot | null): void {
    this.reads.at(-1)!(snapshot);
  }
}

test('dial limiter: reads the limits for all calls that wait, and once more for those that came during a read', () => {
  const scene = new Harness();
  const calls = [scene.enter(), scene.enter(), scene.enter()];
  expect([scene.reads.length, scene.dialing]).toEqual([1, []]);
  scene.answer(withRemaining(9));
  expect([scene.reads.length, scene.dialing]).toEqual([2, calls.slice(0, 1)]);
  scene.answer(withRemaining(9));
  expect([scene.reads.length, scene.dialing]).toEqual([2, calls]);
});

test('dial limiter: lets as many calls dial as the limits leave, oldest first, and the next when one ends', () => {
  const scene = new Harness();
  const calls = [scene.enter(), scene.enter(), scene.enter(), scene.enter()];
  scene.answer(withRemaining(2));
  scene.answer(withRemaining(2));
  expect(scene.dialing).toEqual(calls.slice(0, 2));
  scene.limiter.release(calls[0]!);
  scene.limiter.release(calls[0]!); // no effect
  scene.answer(withRemaining(2));
  expect(scene.dialing).toEqual(calls.slice(0, 3));
  scene.limiter.release(calls[1]!);
  scene.answer(withRemaining(1)); // one was counted: the third call dials for what is left
  expect(scene.dialing).toEqual(calls.slice(0, 3));
});

test('dial limiter: without the store nothing bounds the dials', () => {
  const scene = new Harness();
  const calls = [scene.enter(), scene.enter()];
  scene.answer(null);
  scene.answer(null);
  expect(scene.dialing).toEqual(calls);
});

test('dial limiter: providers do not wait for each other', () => {
  const scene = new Harness();
  const first = scene.enter();
  scene.answer(withRemaining(1));
  const other = scene.enter('anthropic');
  scene.answer(withRemaining(1));
  expect([scene.dialing, scene.limiter.laneCount]).toEqual([[first, other], 2]);
});

test('dial limiter: keeps nothing of calls that have ended, also while the limits are read', () => {
  const scene = new Harness();
  const [dialing, waiting, gone] = [scene.enter(), scene.enter(), scene.enter()];
  scene.limiter.release(gone!);
  scene.answer(withRemaining(1));
  scene.answer(withRemaining(1));
  scene.limiter.release(waiting!);
  scene.limiter.release(dialing!);
  expect([scene.dialing, scene.limiter.laneCount]).toEqual([[dialing], 0]);
  const late = scene.enter();
  scene.limiter.release(late);
  scene.answer(withRemaining(1));
  expect([scene.dialing, scene.limiter.laneCount]).toEqual([[dialing], 0]);
});
