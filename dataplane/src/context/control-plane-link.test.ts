import { createServer } from 'node:net';
import { NO_CELL } from '@acg/base/cells';
import { Secret } from '@acg/base/secret';
import { ControlPlaneClient } from '@acg/proto/control-plane-client';
import { type GatewayHandlers, gatewayService } from '@acg/proto/gateway-service';
import { createServerCredentials, type LinkSecurity } from '@acg/proto/link-tls-or-shared-secret';
import {
  InvalidationKind,
  type IWatchEvent,
  type IWatchRequest,
  LayoutStage as LayoutStageMessage,
  Outcome,
} from '@acg/proto/messages';
import { Server, type ServerWritableStream, type ServiceDefinition, status } from '@grpc/grpc-js';
import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LayoutStage } from '../limits/counters-interface.js';
import { RPM_ROW } from '../limits/limit-table.js';
import { ContextCache, DEFAULT_CONTEXT_CACHE_OPTIONS, type Lookup } from './context-cache.js';
import { ControlPlaneLink, isClockOff } from './control-plane-link.js';
import { createContextMessage } from './testing/context-message-fixture.js';

const security: LinkSecurity = { tls: null, internalTokens: [new Secret('x'.repeat(40))] };
const HASH = 'ab'.repeat(32);
const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});

type Watcher = ServerWritableStream<IWatchRequest, IWatchEvent>;

/** A control plane that the test controls. */
class Plane {
  readonly watchers: Watcher[] = [];
  watch: (call: Watcher) => void = (call) => hello(call, 5);
  resolve: GatewayHandlers['resolveToken'] = (_call, done) =>
    done(null, { outcome: Outcome.FOUND, context: createContextMessage(), revision: 5 });
  address = '';
  server = new Server();

  async listen(port = 0): Promise<this> {
    this.server = new Server();
    this.server.addService(gatewayService as unknown as ServiceDefinition, {
      watch: (call: Watcher) => {
        this.watchers.push(call);
        call.on('error', () => undefined);
        this.watch(call);
      },
      resolveToken: (...args: Parameters<GatewayHandlers['resolveToken']>) => this.resolve(...args),
    });
    const bound = await new Promise<number>((resolve, reject) =>
      this.server.bindAsync(`127.0.0.1:${port}`, createServerCredentials(security), (error, p) =>
        error ? reject(error) : resolve(p),
      ),
    );
    this.address = `127.0.0.1:${bound}`;
    closers.push(() => this.server.forceShutdown());
    return this;
  }
}

const hello = (call: Watcher, revision: number, reset = false, heartbeatMs = 60_000): void =>
  void call.write({ revision, hello: { reset, heartbeatMs, circuits: [], prices: { overrides: [] } } });

function connect(addresses: readonly string[], staleIfErrorMs = 900_000, cell = NO_CELL) {
  const lines: string[] = [];
  const client = new ControlPlaneClient(addresses, security, () => 0);
  const heard = {
    ended: [] as string[],
    circuits: [] as string[],
    fatal: [] as string[],
    prices: 0,
    resets: 0,
    stages: [] as LayoutStage[],
    retiring: [] as string[],
  };
  const identity = { dataPlaneId: 'dp-1', counters: 'memory', version: '1' } as const;
  const source = new ControlPlaneLink(
    client,
    identity,
    {
      onCircuits: (all) => void heard.circuits.push(`all ${all.length}`),
      onCircuit: (one) => void heard.circuits.push(one.state!),
      onPrices: () => void heard.prices++,
      onCounterLayout: (stage) => void heard.stages.push(stage),
      onReset: () => void heard.resets++,
      onRetiring: (former) => void heard.retiring.push(former.map(({ id, version }) => `${id} ${version}`).join()),
      onSessionsEnd: (one) => void heard.ended.push(`${one.kind} ${one.id}`),
      onFatal: (message) => void heard.fatal.push(message),
    },
    pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }),
    () => 0,
    cell,
  );
  const cache = new ContextCache(source, {
    ...DEFAULT_CONTEXT_CACHE_OPTIONS,
    ttlMs: 300_000,
    staleIfErrorMs,
  });
  closers.push(() => {
    source.stop();
    client.close();
  });
  const resolve = () => new Promise<Lookup>((done) => cache.resolve(HASH, '', null, done));
  source.start(cache);
  return { source, cache, heard, resolve, lines };
}

const until = (condition: () => boolean) => vi.waitFor(() => expect(condition()).toBe(true), { timeout: 90_000 });

describe('ControlPlaneLink', () => {
  it('confirms no entry after the link has ended', async () => {
    const plane = await new Plane().listen();
    const { source, cache, resolve } = connect([plane.address], 1);
    await until(() => source.isUp);
    await resolve();
    expect(cache.get(HASH, '')).toMatchObject({ rejection: null });
    plane.watch = () => {}; // no further event
    for (const call of plane.watchers) call.end();
    await until(() => cache.get(HASH, '') === null);
  });

  it('announces its counter layout and passes on the stage of Hello and of heartbeats, and what retires', async () => {
    const plane = new Plane();
    plane.watch = (call) => {
      hello(call, 5); // as a control plane of the previous release: without a stage
      call.write({ heartbeat: { counterLayout: { stage: LayoutStageMessage.BOTH } } });
      call.write({
        heartbeat: {
          counterLayout: { stage: LayoutStageMessage.NEW, sinceMs: 1_700_000_000_000 },
          retiring: [{ id: 'account-1', version: 7 }],
        },
      });
    };
    await plane.listen();
    const { heard } = connect([plane.address]);
    await until(() => heard.stages.length === 3);
    expect(plane.watchers[0]!.request.counterLayout).toBe(2);
    expect(heard.stages).toEqual([{ name: 'both' }, { name: 'both' }, { name: 'new', sinceMs: 1_700_000_000_000 }]);
    await until(() => heard.retiring.length === 2);
    expect(heard.retiring).toEqual(['', 'account-1 7']);
  });

  it('logs an unreachable control plane once, not at each retry', async () => {
    const plane = new Plane();
    plane.watch = (call) => void call.emit('error', { code: status.UNAVAILABLE, details: 'not now' });
    await plane.listen();
    const { lines } = connect([plane.address]);
    await until(() => plane.watchers.length >= 4);
    expect(lines.filter((line) => line.includes('control plane unreachable'))).toHaveLength(1);
  });

  it('logs again when the control plane is unreachable for another reason', async () => {
    const plane = new Plane();
    const reasons = ['connect ECONNREFUSED 127.0.0.1:1', 'connect ECONNREFUSED 127.0.0.1:2', 'self-signed certificate'];
    plane.watch = (call) => {
      call.emit('error', { code: status.UNAVAILABLE, details: reasons[plane.watchers.length % reasons.length] });
    };
    await plane.listen();
    const { lines } = connect([plane.address]);
    await until(() => plane.watchers.length >= 2 * reasons.length);
    const said = (reason: string) => lines.filter((line) => line.includes(reason)).length;
    expect([said('ECONNREFUSED'), said('self-signed certificate')]).toEqual([1, 1]);
  });

  it('logs failed resolves once, ignoring durations in the text, and again after a success', async () => {
    const plane = await new Plane().listen();
    const { source, cache, resolve, lines } = connect([plane.address]);
    await until(() => source.isUp);
    const answer = plane.resolve;
    const said = () => lines.filter((line) => line.includes('resolve failed')).length;
    let after = 0;
    const fail: typeof answer = (_call, done) => {
      const details = `Deadline exceeded after 5.00${after}s${after++ === 0 ? ',LB pick: 0.001s' : ''}`;
      done({ code: status.DEADLINE_EXCEEDED, details });
    };
    plane.resolve = fail;
    for (let i = 0; i < 3; i++) await resolve();
    expect([after, said()]).toEqual([3, 1]);
    plane.resolve = answer;
    await resolve();
    cache.reset(5);
    plane.resolve = fail;
    await resolve();
    expect(said()).toBe(2);
  });

  it('asks for budget rows and applies the share of its cell, also with a minted credential', async () => {
    const plane = await new Plane().listen();
    const { source } = connect([plane.address], 900_000, { name: 'eu', sharePercent: 50 });
    await until(() => source.isUp);
    const answer = plane.resolve;
    const asked: unknown[] = [];
    plane.resolve = (call, done) => {
      asked.push([call.request.budgetRows, call.request.cell, call.request.mintAccountId]);
      answer(call, done);
    };
    for (const { context } of [
      await source.resolve(HASH, '', null),
      await source.resolveMinted(HASH, '', 'account-1', 3),
    ])
      expect(context?.agentLimits.byRow[RPM_ROW]).toBe(30);
    expect(asked).toEqual([
      [true, 'eu', ''],
      [true, 'eu', 'account-1'],
    ]);
  });

  it('logs an undecodable answer once, even with good answers in between', async () => {
    const plane = await new Plane().listen();
    const { source, cache, resolve, lines } = connect([plane.address]);
    await until(() => source.isUp);
    const answer = plane.resolve;
    let wrong = 0;
    const answerWrongly: typeof answer = (_call, done) => {
      wrong++;
      done(null, { outcome: Outcome.OUTCOME_UNSPECIFIED });
    };
    for (plane.resolve of [answerWrongly, answer, answerWrongly]) {
      await resolve();
      cache.reset(5);
    }
    expect([wrong, lines.filter((line) => line.includes('cannot decode the answer')).length]).toEqual([2, 1]);
  });

  it('is ready after the first Hello and not before', async () => {
    const plane = await new Plane().listen();
    plane.watch = () => undefined;
    const { source } = connect([plane.address]);
    await until(() => plane.watchers.length === 1);
    expect(source.isReady).toBe(false);
    expect(plane.watchers[0]!.request).toMatchObject({ dataPlaneId: 'dp-1', counters: 'memory', lastRevision: 0 });
    hello(plane.watchers[0]!, 5);
    await until(() => source.isReady && source.isUp);
  });

  it('resolves tokens and receives invalidations, breaker states, prices and revoked sessions', async () => {
    const plane = await new Plane().listen();
    const { cache, heard, resolve, source } = connect([plane.address]);
    await until(() => source.isUp);
    expect((await resolve()).context?.agentId).toBe('agent-1');
    plane.watchers[0]!.write({ circuit: { circuitKey: 'openai', state: 'OPEN' } });
    const invalidation = { kind: InvalidationKind.KEY, id: 'key-1', endsSessions: true };
    plane.watchers[0]!.write({ revision: 6, invalidation });
    await until(() => cache.seenRevision === 6);
    expect(cache.get(HASH, '')).toBeNull();
    expect(heard).toMatchObject({ ended: ['key key-1'], circuits: ['all 0', 'OPEN'], prices: 1 });
  });

  it('rejects with 503 on a cold start without a control plane, and recovers by itself', async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => probe.once('listening', resolve));
    const port = (probe.address() as { port: number }).port;
    await new Promise((resolve) => probe.close(resolve));
    const { source, resolve } = connect([`127.0.0.1:${port}`]);
    expect((await resolve()).rejection).toBe('unavailable');
    expect(source.isReady).toBe(false);
    await new Plane().listen(port);
    await until(() => source.isUp);
    expect((await resolve()).context?.agentId).toBe('agent-1');
  });

  it('resumes from the last seen revision and trusts its cache only after the replay', async () => {
    const plane = await new Plane().listen();
    const { cache, resolve, source } = connect([plane.address]);
    await until(() => source.isUp);
    await resolve();
    plane.watch = (call) => hello(call, 8); // 6…8 happened meanwhile
    plane.watchers[0]!.end();
    await until(() => plane.watchers.length === 2);
    expect(plane.watchers[1]!.request.lastRevision).toBe(5);
    expect(source.isUp).toBe(false);
    for (const [revision, id] of [
      [6, 'x'],
      [7, 'agent-1'],
      [8, 'y'],
    ] as const) {
      plane.watchers[1]!.write({ revision, invalidation: { kind: InvalidationKind.AGENT, id } });
    }
    await until(() => source.isUp);
    expect(cache.get(HASH, '')).toBeNull();
  });

  it('drops everything when the control plane sends a reset', async () => {
    const plane = await new Plane().listen();
    const { cache, resolve, source, heard } = connect([plane.address]);
    await until(() => source.isUp);
    const { resets } = heard;
    await resolve();
    plane.watch = (call) => hello(call, 3, true); // a restored database: its revisions are lower
    plane.watchers[0]!.end();
    await until(() => source.isUp && plane.watchers.length === 2);
    expect(cache.seenRevision).toBe(3);
    expect(heard.resets).toBe(resets + 1); // open calls are checked again
    expect(cache.get(HASH, '')).toBeNull();
  });

  it('resets on each connection while it has seen no revision', async () => {
    const plane = await new Plane().listen();
    plane.watch = (call) => hello(call, 0);
    const { source, heard } = connect([plane.address]);
    await until(() => source.isUp);
    plane.watchers[0]!.end();
    await until(() => source.isUp && plane.watchers.length === 2);
    expect([plane.watchers[1]!.request.lastRevision ?? 0, heard.resets]).toEqual([0, 2]);
  });

  it('reconnects to another instance when one is silent', async () => {
    const silent = await new Plane().listen();
    const other = await new Plane().listen();
    silent.watch = (call) => hello(call, 5, false, 1);
    const { source } = connect([silent.address, other.address]);
    await until(() => other.watchers.length === 1 && source.isUp);
    expect(silent.watchers).toHaveLength(1);
  });

  it('drops everything and reconnects after an event that it cannot decode', async () => {
    const plane = await new Plane().listen();
    const { cache, resolve, source } = connect([plane.address]);
    await until(() => source.isUp);
    await resolve();
    plane.watchers[0]!.write({ revision: 6, invalidation: { kind: 99 as never, id: 'x' } });
    await until(() => plane.watchers.length === 2 && source.isUp);
    expect(plane.watchers[1]!.request.lastRevision).toBe(0);
    expect(cache.get(HASH, '')).toBeNull();
  });

  it('stops with the reason when the control plane rejects the registration', async () => {
    const plane = await new Plane().listen();
    const reason = 'another data plane counts in process: set REDIS_URL';
    plane.watch = (call) =>
      void call.emit('error', Object.assign(new Error(reason), { code: status.FAILED_PRECONDITION, details: reason }));
    const { heard, source } = connect([plane.address]);
    await until(() => heard.fatal.length > 0);
    expect(heard.fatal).toEqual([reason]);
    expect(source.isReady).toBe(false);
    expect(plane.watchers).toHaveLength(1);
  });
});

describe('the clock', () => {
  it('is compared with the database at each heartbeat; a link to an older control plane knows nothing', async () => {
    const plane = await new Plane().listen();
    const { source, lines } = connect([plane.address]);
    await until(() => source.isUp);
    expect([source.clockOffsetMs, isClockOff(source.clockOffsetMs)]).toEqual([0, false]);
    const heartbeat = (aheadMs: number): void =>
      void plane.watchers[0]!.write({ heartbeat: { databaseTimeMs: Date.now() - aheadMs } });
    heartbeat(3 * 86_400_000);
    await until(() => source.clockOffsetMs > 2 * 86_400_000);
    expect(isClockOff(source.clockOffsetMs)).toBe(true);
    heartbeat(-600_000);
    await until(() => source.clockOffsetMs < 0);
    expect(isClockOff(source.clockOffsetMs)).toBe(true);
    heartbeat(0);
    await until(() => !isClockOff(source.clockOffsetMs));
    heartbeat(100_000);
    await until(() => source.clockOffsetMs > 90_000);
    expect(isClockOff(source.clockOffsetMs)).toBe(false);
    const logged = lines.filter((line) => line.includes('the clock'));
    expect(logged).toHaveLength(1); // errors once an outage; recovery is an info line
  });
});
