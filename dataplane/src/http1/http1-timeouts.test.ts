import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { SocketReadHandler } from '@acg/base/dialer/dialer';
import { expect, test } from 'vitest';
import { RecordedRequest } from '../upstream/testing/dialer-recorder-certificate-fixture.js';
import { type ConnectionOwner, Http1Connection, type TickTimeouts } from './http1-connection.js';

const TIMEOUTS: TickTimeouts = {
  headTicks: 2,
  bodyTicks: 4,
  idleTicks: 6,
  idleTicksMax: 20,
  ageTicks: 1_000,
  ticksPerSec: 1,
};
const OK = 'HTTP/1.1 200 OK\r\n';
const EMPTY = `${OK}content-length: 0\r\n\r\n`;

/** A socket whose reads and writes the test controls. */
class ScriptedSocket extends EventEmitter {
  written = '';
  writableLength = 0;
  destroyed = false;
  resumed = 0;

  write(text: string | Buffer, encoding?: BufferEncoding): boolean {
    this.written += typeof text === 'string' ? Buffer.from(text, encoding).toString('latin1') : text.toString('latin1');
    return true;
  }
  cork(): void {}
  uncork(): void {}
  resume(): void {
    this.resumed++;
  }
  destroy(): void {
    this.destroyed = true;
  }
}

class ConnectionHarness implements ConnectionOwner {
  readonly socket = new ScriptedSocket();
  readonly connection: Http1Connection;
  releasedCount = 0;
  closedCount = 0;
  #read: SocketReadHandler | null = null;
  #connectCallback: ((error: Error | null) => void) | null = null;

  /** `held`: the socket connects only with {@link finishConnect}. */
  constructor(waitsForConnect = false) {
    this.connection = new Http1Connection(
      'api.example.com',
      (onread, done) => {
        this.#read = onread;
        this.#connectCallback = (error) => done(error, error === null ? (this.socket as unknown as Socket) : null);
        if (!waitsForConnect) this.#connectCallback(null);
      },
      TIMEOUTS,
      this,
    );
  }

  onReleased(): void {
    this.releasedCount++;
  }
  onClosed(): void {
    this.closedCount++;
  }

  call(): RecordedRequest {
    return new RecordedRequest(this.connection);
  }

  finishConnect(error: Error | null = null): void {
    this.#connectCallback!(error);
  }

  /** Delivers bytes to the connection. Returns false when it pauses reading. */
  receive(text: string): boolean {
    const { buffer } = this.#read!;
    const length = Buffer.from(text, 'latin1').copy(buffer);
    const goesOn = this.#read!.callback(length, buffer);
    buffer.fill(0xff, 0, length);
    return goesOn;
  }

  tick(times: number): void {
    for (let i = 0; i < times; i++) this.connection.tick();
  }
}

test('ends a call without a head after the head timeout', () => {
  const scene = new ConnectionHarness();
  const call = scene.call();
  scene.tick(2);
  expect(call.isFinished).toBe(false);
  scene.tick(1);
  expect(call.error).toMatchObject({ code: 'ETIMEDOUT' });
  expect([scene.socket.destroyed, scene.releasedCount, scene.closedCount]).toEqual([true, 1, 1]);
  scene.tick(50);
  expect([call.errors, scene.closedCount]).toEqual([1, 1]);
});

test('single bytes of a head do not extend its timeout, but an informational response does', () => {
  const scene = new ConnectionHarness();
  const call = scene.call();
  for (const byte of 'HT') {
    scene.tick(1);
    scene.receive(byte);
  }
  expect(call.isFinished).toBe(false);
  scene.tick(1);
  expect(call.error).toMatchObject({ code: 'ETIMEDOUT' });

  const patient = new ConnectionHarness();
  const waiting = patient.call();
  for (let i = 0; i < 10; i++) {
    patient.tick(2);
    patient.receive('HTTP/1.1 102 Processing\r\n\r\n');
  }
  expect(waiting.isFinished).toBe(false);
  patient.receive(EMPTY);
  expect(waiting.completed).toBe(1);
});

test('each piece of a body restarts the timeout, but framing bytes do not', () => {
  const scene = new ConnectionHarness();
  const call = scene.call();
  scene.tick(2);
  scene.receive(`${OK}transfer-encoding: chunked\r\n\r\n`);
  for (let i = 0; i < 5; i++) {
    scene.tick(4);
    scene.receive('1\r\na\r\n');
  }
  expect([call.isFinished, call.body.toString()]).toEqual([false, 'aaaaa']);
  scene.receive('1;');
  for (let i = 0; i < 4; i++) {
    scene.tick(1);
    scene.receive('x');
  }
  expect(call.isFinished).toBe(false);
  scene.tick(1);
  expect(call.error).toMatchObject({ code: 'ETIMEDOUT' });
});

test('a paused call does not time out, and restarts its timeout on resume', () => {
  const scene = new ConnectionHarness();
  const call = scene.call();
  call.accepts = false;
  expect(scene.receive(`${OK}content-length: 2\r\n\r\na`)).toBe(false);
  scene.tick(100);
  expect(call.isFinished).toBe(false);
  call.resume!();
  expect(scene.socket.resumed).toBe(1);
  scene.tick(4);
  expect(call.isFinished).toBe(false);
  scene.tick(1);
  expect(call.error).toMatchObject({ code: 'ETIMEDOUT' });
});

test('connecting does not count as silence', () => {
  const scene = new ConnectionHarness(true);
  const call = scene.call();
  scene.tick(100);
  expect(call.isFinished).toBe(false);
  scene.finishConnect();
  scene.tick(2);
  expect(call.isFinished).toBe(false);
  scene.receive(EMPTY);
  expect(call.completed).toBe(1);
});

test.each([
  ['', 6],
  ['keep-alive: timeout=5\r\n', 3], // two seconds before the server
  ['keep-alive: timeout=3\r\n', 1],
  ['keep-alive: timeout=1000\r\n', 20],
])('keeps an idle connection up to the shorter timeout of both sides: %j', (header, ticks) => {
  const scene = new ConnectionHarness();
  for (let i = 0; i < 2; i++) {
    scene.call();
    scene.receive(`${OK}${header}content-length: 0\r\n\r\n`);
    scene.tick(ticks);
    expect(scene.connection.isUsable).toBe(true);
  }
  scene.tick(1);
  expect([scene.connection.isUsable, scene.socket.destroyed, scene.closedCount]).toEqual([false, true, 1]);
});

test('the idle time of a connection does not count for the next call', () => {
  const scene = new ConnectionHarness();
  scene.call();
  scene.receive(EMPTY);
  scene.tick(6);
  const call = scene.call();
  scene.tick(2);
  expect(call.isFinished).toBe(false);
  scene.tick(1);
  expect(call.error).toMatchObject({ code: 'ETIMEDOUT' });
});

test.each(['end', 'close'])('a socket that emits only %s ends its call', (event) => {
  const scene = new ConnectionHarness();
  const call = scene.call();
  scene.socket.emit(event);
  expect([call.errors, scene.closedCount, scene.connection.isUsable]).toEqual([1, 1, false]);
});

test('continues to read when the paused response ends in the same read', () => {
  const scene = new ConnectionHarness();
  const call = scene.call();
  call.accepts = false;
  expect(scene.receive(`${OK}content-length: 1\r\n\r\na`)).toBe(true);
  expect([call.completed, scene.connection.isUsable]).toEqual([1, true]);
  // As TLS does: the socket was paused, but still delivers bytes decrypted before.
  const next = scene.call();
  next.accepts = false;
  expect(scene.receive(`${OK}content-length: 2\r\n\r\na`)).toBe(false);
  const resumed = scene.socket.resumed;
  expect(scene.receive('b')).toBe(true);
  expect(next.completed).toBe(1);
  expect(scene.socket.resumed).toBe(resumed + 1);
});

test('sends nothing when the handler aborts on connect', () => {
  const scene = new ConnectionHarness(true);
  const call = scene.call();
  call.onConnect = (abort) => abort(new Error('gone'));
  scene.finishConnect();
  expect(call.error?.message).toBe('gone');
  expect([scene.socket.written, scene.socket.destroyed, scene.releasedCount, scene.closedCount]).toEqual([
    '',
    true,
    1,
    1,
  ]);
});

test('a failed connect ends the call once, and the connection', () => {
  const scene = new ConnectionHarness(true);
  const call = scene.call();
  scene.finishConnect(new Error('no way'));
  expect(call.error?.message).toBe('no way');
  expect([call.errors, scene.releasedCount, scene.closedCount, scene.connection.isUsable]).toEqual([1, 1, 1, false]);
});

test('does not use a connection that was closed while connecting', () => {
  const scene = new ConnectionHarness(true);
  const call = scene.call();
  scene.connection.close();
  expect(call.errors).toBe(1);
  scene.finishConnect();
  expect([scene.socket.written, scene.socket.destroyed, call.errors]).toEqual(['', true, 1]);
});

test('a response during the send completes the call and closes the connection', () => {
  const scene = new ConnectionHarness();
  const call = scene.call();
  scene.socket.writableLength = 1;
  scene.receive(EMPTY);
  expect([call.completed, scene.socket.destroyed, scene.connection.isUsable]).toEqual([1, true, false]);
});

test('bytes before the first request close the connection, which never carries a call', () => {
  const scene = new ConnectionHarness(true);
  const call = scene.call();
  scene.receive(`${OK}content-length: 8\r\n\r\nsmuggled`);
  scene.finishConnect();
  expect([call.heads, call.errors, scene.socket.written, scene.socket.destroyed]).toEqual([[], 1, '', true]);
  const held = new ConnectionHarness();
  held.connection.connect(() => {});
  held.receive('x');
  expect([held.connection.isUsable, held.socket.destroyed, held.closedCount]).toEqual([false, true, 1]);
});

test('closes an unused connection after the idle timeout', () => {
  const scene = new ConnectionHarness();
  scene.connection.connect(() => {});
  scene.tick(TIMEOUTS.idleTicks);
  expect(scene.connection.isUsable).toBe(true);
  scene.tick(1);
  expect([scene.connection.isUsable, scene.socket.destroyed, scene.closedCount]).toEqual([false, true, 1]);
});

test('ignores socket errors after the end of a call', () => {
  const scene = new ConnectionHarness();
  const call = scene.call();
  scene.receive(EMPTY);
  scene.socket.emit('error', new Error('reset'));
  scene.socket.emit('close');
  expect([call.completed, call.errors, scene.closedCount, scene.connection.isUsable]).toEqual([1, 0, 1, false]);
});

test('an exception in onComplete reaches onError once and costs only its call', () => {
  const scene = new ConnectionHarness();
  const call = scene.call();
  call.onComplete = () => {
    throw new Error('a bug');
  };
  scene.receive(EMPTY);
  expect([call.error?.message, call.errors, scene.releasedCount, scene.closedCount]).toEqual(['a bug', 1, 1, 0]);
  const next = scene.call();
  scene.receive(EMPTY);
  expect(next.completed).toBe(1);

  const last = scene.call();
  last.onComplete = call.onComplete;
  scene.receive(`${OK}\r\nabc`);
  scene.socket.emit('end');
  expect([last.error?.message, last.errors, scene.closedCount]).toEqual(['a bug', 1, 1]);
});

test.each(['onHeaders', 'onData'] as const)('an exception in %s reaches onError once', (where) => {
  const scene = new ConnectionHarness();
  const call = scene.call();
  call[where] = () => {
    throw new Error('a bug');
  };
  scene.receive(`${OK}content-length: 1\r\n\r\na`);
  expect([call.error?.message, call.errors, call.completed, scene.closedCount]).toEqual(['a bug', 1, 0, 1]);
});

test('the next call may start within onComplete of the last', () => {
  const scene = new ConnectionHarness();
  const first = scene.call();
  let second: RecordedRequest | null = null;
  const { onComplete } = first;
  first.onComplete = () => {
    onComplete.call(first);
    second = scene.call();
  };
  expect(scene.receive(`${OK}content-length: 1\r\n\r\na`)).toBe(true);
  expect(second!.isFinished).toBe(false);
  scene.receive(`${OK}content-length: 1\r\n\r\nb`);
  expect([first.body.toString(), second!.body.toString(), second!.completed, scene.closedCount]).toEqual([
    'a',
    'b',
    1,
    0,
  ]);
});

test('isUsable is final when onComplete runs', () => {
  for (const [answer, usable] of [
    [EMPTY, true],
    [`${OK}content-length: 1\r\n\r\na`, true],
    [`${OK}transfer-encoding: chunked\r\n\r\n0\r\n\r\n`, true],
    [`${EMPTY}x`, false],
    [`${OK}content-length: 1\r\n\r\nax`, false],
    [`${OK}transfer-encoding: chunked\r\n\r\n0\r\n\r\nx`, false],
    [`${OK}connection: close\r\ncontent-length: 0\r\n\r\n`, false],
    [`${OK}keep-alive: timeout=3\r\ncontent-length: 0\r\n\r\n`, true],
    [`${OK}keep-alive: timeout=2\r\ncontent-length: 0\r\n\r\n`, false],
  ] as const) {
    const scene = new ConnectionHarness();
    const call = scene.call();
    let seen: boolean | null = null;
    const { onComplete } = call;
    call.onComplete = () => {
      seen = scene.connection.isUsable;
      onComplete.call(call);
    };
    scene.receive(answer);
    expect([answer, seen]).toEqual([answer, usable]);
  }
});

test('an expired connection completes its call and carries no other', () => {
  const scene = new ConnectionHarness();
  const call = scene.call();
  for (let i = 0; i < 1_000; i++) {
    scene.receive('HTTP/1.1 102 Processing\r\n\r\n');
    scene.tick(1);
  }
  expect(call.isFinished).toBe(false);
  scene.receive(EMPTY);
  expect(call.completed).toBe(1);
  expect([scene.connection.isUsable, scene.socket.destroyed]).toEqual([false, true]);
});
