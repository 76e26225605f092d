import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import type { RoutedExchange } from '../call/exchange.js';
import { contextOf, GATEWAY_TOKEN, upstreamOf } from '../call/testing/proxy-fixture.js';
import { maskForms } from '../upstream/mask.js';
import { WebSocketSession } from './session.js';

/** What the server's socket says of a message. */
const BUFFERED = 0;
const SENT = 1;
const DROPPED = 2;

class FakeUpstream extends EventEmitter {
  protocol = '';
  bufferedAmount = 0;
  paused = false;
  readonly closed: [code: number, reason: string][] = [];
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
  send(): void {}
  terminate(): void {}
  close(code: number, reason: string | Buffer): void {
    this.closed.push([code, reason.toString()]);
  }
}

class FakeAgent {
  status = SENT;
  readonly received: string[] = [];
  ended: [code: number, reason: string] | null = null;
  send(message: Buffer): number {
    this.received.push(message.toString());
    return this.status;
  }
  end(code: number, reason: string): void {
    this.ended = [code, reason];
  }
}

function setup() {
  const upstream = new FakeUpstream();
  const agent = new FakeAgent();
  const ended: WebSocketSession[] = [];
  const x = {
    routed: {
      context: contextOf([]),
      upstream: upstreamOf('http://127.0.0.1:1', { websocket: true }),
      position: { gatewayToken: GATEWAY_TOKEN },
    },
    errorClass: '',
    bytesIn: 0,
    bytesOut: 0,
    responseComplete: false,
  } as unknown as RoutedExchange;
  const session = new WebSocketSession(x, upstream as never, maskForms([]), (one) => void ended.push(one));
  const say = (text: string): void => void upstream.emit('message', Buffer.from(text), false);
  return { session, upstream, agent, ended, say };
}

test('session: the upstream waits until the agent’s side is open', () => {
  const { session, upstream, agent } = setup();
  expect(upstream.paused).toBe(true);
  session.opened(agent as never);
  expect(upstream.paused).toBe(false);
});

test('session: an agent whose socket is full pauses the upstream until it drains', () => {
  const { session, upstream, agent, say } = setup();
  session.opened(agent as never);
  say('one');
  expect(upstream.paused).toBe(false);
  agent.status = BUFFERED;
  say('two');
  expect(upstream.paused).toBe(true);
  session.agentDrained();
  expect(upstream.paused).toBe(false);
  say('three');
  expect(upstream.paused).toBe(true);
  expect(agent.received).toEqual(['one', 'two', 'three']);
});

test('session: a message that the agent’s socket dropped ends both sides once', () => {
  const { session, upstream, agent, ended, say } = setup();
  session.opened(agent as never);
  agent.status = DROPPED;
  say('lost');
  say('late');
  const end = [1013, 'the agent is too slow'];
  expect([upstream.closed, agent.ended, ended.length]).toEqual([[end], end, 1]);
  expect(agent.received).toEqual(['lost']);
});

test('session: an upstream that does not take what the agent sends ends both sides', () => {
  const { session, upstream, agent, ended } = setup();
  session.opened(agent as never);
  upstream.bufferedAmount = 16 * 1024 * 1024 + 1;
  session.fromAgent(new ArrayBuffer(1), true);
  const end = [1013, 'the provider is too slow'];
  expect([upstream.closed, agent.ended, ended.length]).toEqual([[end], end, 1]);
});

const ENDS: Readonly<Record<string, (scene: ReturnType<typeof setup>) => void>> = {
  'the gateway ends it': ({ session }) => session.end(1008, 'revoked'),
  'the upstream closes': ({ upstream }) => void upstream.emit('close', 1000, Buffer.from('done')),
  'the upstream breaks off': ({ upstream }) => void upstream.emit('close', 1006, Buffer.alloc(0)),
  'the agent closes': ({ session }) => session.agentClosed(1000, new ArrayBuffer(0)),
  'the agent is gone': ({ session }) => session.abandon(),
};

test.each(Object.keys(ENDS).flatMap((first) => Object.keys(ENDS).map((then) => [first, then] as const)))(
  'session: %s, then %s: it ends once, as it ended first',
  (first, then) => {
    const scene = setup();
    const { session, upstream, agent, ended } = scene;
    session.opened(agent as never);
    const seen = () => [ended.length, upstream.closed, agent.ended, session.x.errorClass, session.x.responseComplete];
    ENDS[first]!(scene);
    const once = structuredClone(seen());
    expect(once[0]).toBe(1);
    ENDS[then]!(scene);
    expect(seen()).toEqual(once);
  },
);
