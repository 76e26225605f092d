import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { SocketReadHandler } from '@acg/base/dialer/dialer';
import { expect, test } from 'vitest';
import { RecordedRequest } from '../upstream/testing/upstream-request-fixture.js';
import { type ConnectionOwner, Http1Connection, type TickTimeouts } from './http1-connection.js';

const LIMITS: TickTimeouts = {
  headTicks: 2,
  bodyTicks: 4,
  idleTicks: 6,
  idleTicksMax: 20,
  ageTicks: 1_000,
  ticksPerSec: 1,
};
const OK = 'HTTP/1.1 200 OK\r\n';
const EMPTY = `${OK}content-length: 0\r\n\r\n`;

/** A socket whose bytes come and go at the test's word. */
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

class Scene implements ConnectionOwner {
  readonly socket = new ScriptedSocket();
  readonly connection: Http1Connection;
  given = 0;
  lost = 0;
  #read: SocketReadHandler | null = null;
  #connected: ((error: Error | null) => void) | null = null;

  /** `held`: the connection is made by {@link connected}. */
  constructor(held = false) {
    this.connection = new Http1Connection(
      'api.example.com',
      (onread, done) => {
        this.#read = onread;
        this.#connected = (error) => done(error, error === null ? (this.socket as unknown as Socket) : null);
        if (!held) this.#connected(null);
      },
      LIMITS,
      this,
    );
  }

  onReleased(): void {
    this.given++;
  }
  onClosed(): void {
    this.lost++;
  }

  call(): RecordedRequest {
    return new RecordedRequest(this.connection);
  }

  connected(error: Error | null = null): void {
    this.#connected!(error);
  }

  /** False: the connection asks for no more. */
  arrives(text: string): boolean {
    const { buffer } = this.#read!;
    const length = Buffer.from(text, 'latin1').copy(buffer);
    const goesOn = this.#read!.callback(length, buffer);
    buffer.fill(0xff, 0, length);
    return goesOn;
  }

  ticks(times: number): void {
    for (let i = 0; i < times; i++) this.connection.tick();
  }
}

test('time: no head in time ends the call, with every tick that the limit names before', () => {
  const scene = new Scene();
  const call = scene.call();
  scene.ticks(2);
  expect(call.isFinished).toBe(false);
  scene.ticks(1);
  expect(call.error).toMatchObject({ code: 'ETIMEDOUT' });
  expect([scene.socket.destroyed, scene.given, scene.lost]).toEqual([true, 1, 1]);
  scene.ticks(50);
  expect([call.errors, scene.lost]).toEqual([1, 1]);
});

test('time: a head that comes byte by byte has no more time than another; an informational answer shows life', () => {
  const scene = new Scene();
  const call = scene.call();
  for (const byte of 'HT') {
    scene.ticks(1);
    scene.arrives(byte);
  }
  expect(call.isFinished).toBe(false);
  scene.ticks(1);
  expect(call.error).toMatchObject({ code: 'ETIMEDOUT' });

  const patient = new Scene();
  const waiting = patient.call();
  for (let i = 0; i < 10; i++) {
    patient.ticks(2);
    patient.arrives('HTTP/1.1 102 Processing\r\n\r\n');
  }
  expect(waiting.isFinished).toBe(false);
  patient.arrives(EMPTY);
  expect(waiting.completed).toBe(1);
});

test('time: each piece of a body gives it time anew; what frames it does not', () => {
  const scene = new Scene();
  const call = scene.call();
  scene.ticks(2);
  scene.arrives(`${OK}transfer-encoding: chunked\r\n\r\n`);
  for (let i = 0; i < 5; i++) {
    scene.ticks(4);
    scene.arrives('1\r\na\r\n');
  }
  expect([call.isFinished, call.body.toString()]).toEqual([false, 'aaaaa']);
  scene.arrives('1;');
  for (let i = 0; i < 4; i++) {
    scene.ticks(1);
    scene.arrives('x');
  }
  expect(call.isFinished).toBe(false);
  scene.ticks(1);
  expect(call.error).toMatchObject({ code: 'ETIMEDOUT' });
});

test('time: a paused call has all the time; it starts anew when it goes on', () => {
  const scene = new Scene();
  const call = scene.call();
  call.accepts = false;
  expect(scene.arrives(`${OK}content-length: 2\r\n\r\na`)).toBe(false);
  scene.ticks(100);
  expect(call.isFinished).toBe(false);
  call.resume!();
  expect(scene.socket.resumed).toBe(1);
  scene.ticks(4);
  expect(call.isFinished).toBe(false);
  scene.ticks(1);
  expect(call.error).toMatchObject({ code: 'ETIMEDOUT' });
});

test('time: connecting is not silence', () => {
  const scene = new Scene(true);
  const call = scene.call();
  scene.ticks(100);
  expect(call.isFinished).toBe(false);
  scene.connected();
  scene.ticks(2);
  expect(call.isFinished).toBe(false);
  scene.arrives(EMPTY);
  expect(call.completed).toBe(1);
});

test.each([
  ['', 6],
  ['keep-alive: timeout=5\r\n', 3], // two seconds before the server
  ['keep-alive: timeout=3\r\n', 1],
  ['keep-alive: timeout=1000\r\n', 20],
])('time: a free connection is kept as long as both sides want: %j', (header, ticks) => {
  const scene = new Scene();
  for (let i = 0; i < 2; i++) {
    scene.call();
    scene.arrives(`${OK}${header}content-length: 0\r\n\r\n`);
    scene.ticks(ticks);
    expect(scene.connection.isUsable).toBe(true);
  }
  scene.ticks(1);
  expect([scene.connection.isUsable, scene.socket.destroyed, scene.lost]).toEqual([false, true, 1]);
});

test('time: a call has all of its own, however long its connection was free before', () => {
  const scene = new Scene();
  scene.call();
  scene.arrives(EMPTY);
  scene.ticks(6);
  const call = scene.call();
  scene.ticks(2);
  expect(call.isFinished).toBe(false);
  scene.ticks(1);
  expect(call.error).toMatchObject({ code: 'ETIMEDOUT' });
});

test.each(['end', 'close'])('end: a socket that says no more than %s ends its call', (event) => {
  const scene = new Scene();
  const call = scene.call();
  scene.socket.emit(event);
  expect([call.errors, scene.lost, scene.connection.isUsable]).toEqual([1, 1, false]);
});

test('pause: with the end of the answer in the same read the connection reads on', () => {
  const scene = new Scene();
  const call = scene.call();
  call.accepts = false;
  expect(scene.arrives(`${OK}content-length: 1\r\n\r\na`)).toBe(true);
  expect([call.completed, scene.connection.isUsable]).toEqual([1, true]);
  // As TLS does: it was paused, and what it had deciphered before comes all the same.
  const next = scene.call();
  next.accepts = false;
  expect(scene.arrives(`${OK}content-length: 2\r\n\r\na`)).toBe(false);
  const resumed = scene.socket.resumed;
  expect(scene.arrives('b')).toBe(true);
  expect(next.completed).toBe(1);
  expect(scene.socket.resumed).toBe(resumed + 1);
});

test('abort: a handler that no longer wants its call when the connection stands sends nothing', () => {
  const scene = new Scene(true);
  const call = scene.call();
  call.onConnect = (abort) => abort(new Error('gone'));
  scene.connected();
  expect(call.error?.message).toBe('gone');
  expect([scene.socket.written, scene.socket.destroyed, scene.given, scene.lost]).toEqual(['', true, 1, 1]);
});

test('connect: its failure ends the call, once, and the connection', () => {
  const scene = new Scene(true);
  const call = scene.call();
  scene.connected(new Error('no way'));
  expect(call.error?.message).toBe('no way');
  expect([call.errors, scene.given, scene.lost, scene.connection.isUsable]).toEqual([1, 1, 1, false]);
});

test('connect: a connection that was closed meanwhile is not used', () => {
  const scene = new Scene(true);
  const call = scene.call();
  scene.connection.close();
  expect(call.errors).toBe(1);
  scene.connected();
  expect([scene.socket.written, scene.socket.destroyed, call.errors]).toEqual(['', true, 1]);
});

test('answer: one that comes while its request waits to be sent ends the connection, not the call', () => {
  const scene = new Scene();
  const call = scene.call();
  scene.socket.writableLength = 1;
  scene.arrives(EMPTY);
  expect([call.completed, scene.socket.destroyed, scene.connection.isUsable]).toEqual([1, true, false]);
});

test('answer: bytes before any request was sent end the connection after its call', () => {
  const scene = new Scene(true);
  const call = scene.call();
  scene.arrives(`${OK}content-length: 8\r\n\r\nsmuggled`);
  scene.connected();
  expect(call.heads).toEqual([]);
  scene.arrives(`${OK}content-length: 4\r\n\r\ntrue`);
  expect([call.body.toString(), call.completed, scene.socket.destroyed]).toEqual(['true', 1, true]);
});

test('errors: after the end of a call those of its connection concern nobody', () => {
  const scene = new Scene();
  const call = scene.call();
  scene.arrives(EMPTY);
  scene.socket.emit('error', new Error('reset'));
  scene.socket.emit('close');
  expect([call.completed, call.errors, scene.lost, scene.connection.isUsable]).toEqual([1, 0, 1, false]);
});

test('handler: one that throws at the end hears of it, once, and only its call is lost', () => {
  const scene = new Scene();
  const call = scene.call();
  call.onComplete = () => {
    throw new Error('a bug');
  };
  scene.arrives(EMPTY);
  expect([call.error?.message, call.errors, scene.given, scene.lost]).toEqual(['a bug', 1, 1, 0]);
  const next = scene.call();
  scene.arrives(EMPTY);
  expect(next.completed).toBe(1);

  const last = scene.call();
  last.onComplete = call.onComplete;
  scene.arrives(`${OK}\r\nabc`);
  scene.socket.emit('end');
  expect([last.error?.message, last.errors, scene.lost]).toEqual(['a bug', 1, 1]);
});

test.each(['onHeaders', 'onData'] as const)('handler: one that throws in %s hears of it, once', (where) => {
  const scene = new Scene();
  const call = scene.call();
  call[where] = () => {
    throw new Error('a bug');
  };
  scene.arrives(`${OK}content-length: 1\r\n\r\na`);
  expect([call.error?.message, call.errors, call.completed, scene.lost]).toEqual(['a bug', 1, 0, 1]);
});

test('handler: the next call may begin from within the end of the last', () => {
  const scene = new Scene();
  const first = scene.call();
  let second: RecordedRequest | null = null;
  const { onComplete } = first;
  first.onComplete = () => {
    onComplete.call(first);
    second = scene.call();
  };
  expect(scene.arrives(`${OK}content-length: 1\r\n\r\na`)).toBe(true);
  expect(second!.isFinished).toBe(false);
  scene.arrives(`${OK}content-length: 1\r\n\r\nb`);
  expect([first.body.toString(), second!.body.toString(), second!.completed, scene.lost]).toEqual(['a', 'b', 1, 0]);
});

test('handler: by the end of its call it is known whether the connection carries another', () => {
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
    const scene = new Scene();
    const call = scene.call();
    let seen: boolean | null = null;
    const { onComplete } = call;
    call.onComplete = () => {
      seen = scene.connection.isUsable;
      onComplete.call(call);
    };
    scene.arrives(answer);
    expect([answer, seen]).toEqual([answer, usable]);
  }
});

test('time: a connection that is too old carries its call to the end and then no other', () => {
  const scene = new Scene();
  const call = scene.call();
  for (let i = 0; i < 1_000; i++) {
    scene.arrives('HTTP/1.1 102 Processing\r\n\r\n');
    scene.ticks(1);
  }
  expect(call.isFinished).toBe(false);
  scene.arrives(EMPTY);
  expect(call.completed).toBe(1);
  expect([scene.connection.isUsable, scene.socket.destroyed]).toEqual([false, true]);
});
