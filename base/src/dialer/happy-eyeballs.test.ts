import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { interleaveFamilies } from './address-order.js';
import { HappyEyeballsConnect } from './happy-eyeballs.js';

class FakeSocket extends EventEmitter {
  destroyed = false;
  destroy(): void {
    this.destroyed = true;
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function race(count: number, secure = false, check: () => Error | null = () => null) {
  const opened: FakeSocket[] = [];
  const outcome: { error: Error | null; socket: unknown }[] = [];
  const addresses = Array.from({ length: count }, (_, i) => ({ address: `10.0.0.${i}`, family: 4 }));
  const open = (): Socket => {
    const socket = new FakeSocket();
    opened.push(socket);
    return socket as unknown as Socket;
  };
  const running = new HappyEyeballsConnect({ addresses, open, isTls: secure, checkPeer: check }, (error, socket) =>
    outcome.push({ error, socket }),
  );
  return { opened, outcome, running };
}

test('happy eyeballs: dials the next address after 250 ms, and the slow address can still win', () => {
  const { opened, outcome } = race(3);
  expect(opened.length).toBe(1);
  vi.advanceTimersByTime(250);
  expect(opened.length).toBe(2);
  opened[0]!.emit('connect');
  expect(outcome).toEqual([{ error: null, socket: opened[0] }]);
  expect(opened.map(({ destroyed }) => destroyed)).toEqual([false, true]);
  vi.advanceTimersByTime(10_000);
  expect(opened.length).toBe(2);
});

test('happy eyeballs: dials the next address at once after a failure, and reports the last failure', () => {
  const { opened, outcome } = race(2);
  opened[0]!.emit('error', new Error('first'));
  expect(opened.length).toBe(2);
  expect(outcome).toEqual([]);
  opened[1]!.emit('error', new Error('second'));
  expect(outcome.map(({ error }) => error?.message)).toEqual(['second']);
});

test('happy eyeballs: with TLS, aborts the others once one address is connected and waits for its handshake', () => {
  const { opened, outcome } = race(3, true);
  vi.advanceTimersByTime(250);
  opened[1]!.emit('connect');
  expect(opened.map(({ destroyed }) => destroyed)).toEqual([true, false]);
  expect(outcome).toEqual([]);
  opened[1]!.emit('secureConnect');
  expect(outcome).toEqual([{ error: null, socket: opened[1] }]);
});

test('happy eyeballs: dials the next address after a failed handshake', () => {
  const { opened, outcome } = race(2, true);
  opened[0]!.emit('connect');
  opened[0]!.emit('error', new Error('certificate'));
  opened[1]!.emit('connect');
  opened[1]!.emit('secureConnect');
  expect(outcome).toEqual([{ error: null, socket: opened[1] }]);
});

test.each([
  ['plain', false],
  ['TLS', true],
])('happy eyeballs: fails without further attempts when the peer check fails: %s', (_name, secure) => {
  const problem = new Error('not a public address');
  const { opened, outcome } = race(3, secure, () => problem);
  vi.advanceTimersByTime(250);
  opened[0]!.emit('connect');
  opened[0]!.emit('secureConnect');
  vi.advanceTimersByTime(10_000);
  expect(outcome).toEqual([{ error: problem, socket: null }]);
  expect(opened.map(({ destroyed }) => destroyed)).toEqual([true, true]);
});

test('happy eyeballs: abort stops all attempts and calls nothing back', () => {
  const { opened, outcome, running } = race(2);
  running.abort();
  vi.advanceTimersByTime(10_000);
  expect(opened.map(({ destroyed }) => destroyed)).toEqual([true]);
  expect(outcome).toEqual([]);
});

test('addresses: families alternate, the reachable one first', () => {
  const of = (family: number, ...names: string[]) => names.map((address) => ({ address, family }));
  const all = [...of(6, 'a', 'b', 'c'), ...of(4, 'x')];
  expect(interleaveFamilies(all, true).map(({ address }) => address)).toEqual(['a', 'x', 'b', 'c']);
  expect(interleaveFamilies(all, false).map(({ address }) => address)).toEqual(['x', 'a', 'b', 'c']);
});
