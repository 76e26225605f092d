/**
 * Lanes of calls of every kind, each through any of the data planes. A lane waits for its call to end, then pauses;
 * after a rejected or broken call it pauses longer, as SDKs do.
 */
import { Agent } from 'node:http';
import type { DataPlane } from '../chaos-environment.js';
import type { CallTrace } from '../evidence/evidence-types.js';
import type { SecretScanner } from '../invariants/secret-scanner.js';
import { CallFactory } from './calls-with-response-checks.js';
import { sendHttpCall } from './http-call.js';
import type { ChaosAgent } from './tenants.js';
import { sendWebSocketCall } from './websocket-call.js';

/** Closes idle connections before the data plane does: a call on a connection that is just being closed would break. */
const IDLE_CONNECTION_MS = 3_000;
const PAUSE_AFTER_FAILURE_MS = 700;
const SOCKET_MESSAGES_MAX = 60;
/** Lanes and calls per lane of a burst. A rejected call is retried soon. */
const BURST = { lanes: 24, calls: 6, pauseMs: 20, failedPauseMs: 400 };
/** Amounts that are counted after a call reach the store a moment later, so these bursts last longer. */
const LASTING_BURST = { lanes: 4, calls: 10, pauseMs: 1_000, failedPauseMs: 500 };
/** Concurrent calls to each data plane after the faults. */
const STEADY_LANES = 12;

type Lane = (factory: CallFactory, plane: DataPlane, send: Send) => Promise<CallTrace>;
type Send = (call: Parameters<typeof sendHttpCall>[0]) => Promise<CallTrace>;

interface LaneOptions {
  readonly agent: ChaosAgent;
  readonly lanes: number;
  readonly pauseMs: number;
  readonly failedPauseMs?: number;
  /** Number of calls, unless the traffic is stopped before. */
  readonly calls?: number;
  readonly run: Lane;
}

export class Traffic {
  readonly calls: CallTrace[] = [];
  readonly callFactory = new CallFactory();
  readonly #planes: readonly DataPlane[];
  readonly #secrets: SecretScanner;
  readonly #lanes: Promise<void>[] = [];
  #inflight = 0;
  #stopped = false;

  constructor(planes: readonly DataPlane[], secrets: SecretScanner) {
    this.#planes = planes;
    this.#secrets = secrets;
  }

  get inflightCount(): number {
    return this.#inflight;
  }

  /** Sends one call of each agent through each data plane, so that the run does not measure cold code. */
  async warmUp(agents: readonly ChaosAgent[]): Promise<void> {
    const connections = new Agent();
    const through = async (plane: DataPlane): Promise<void> => {
      for (const agent of agents) {
        this.calls.push(await sendHttpCall(this.callFactory.chat(agent, plane, false), connections, this.#secrets));
      }
    };
    await Promise.all(this.#planes.map(through));
  }

  start(agents: readonly ChaosAgent[]): void {
    for (const agent of agents) {
      for (const options of planLanes(agent, this.#secrets)) {
        for (let i = 0; i < options.lanes; i++) this.#lanes.push(this.#runLane(options));
      }
    }
  }

  /** Starts concurrent calls, more than the agent's limit allows. */
  startBurst(agent: ChaosAgent): void {
    const isCountedAfter = agent.tpmLimit !== null || (agent.budgetNanos !== null && !agent.hardBudget);
    const { lanes, ...rest } = isCountedAfter ? LASTING_BURST : BURST;
    for (let i = 0; i < lanes; i++) {
      const run: Lane = (factory, plane, send) => send(factory.chat(agent, plane, i % 2 === 0, 'burst'));
      this.#lanes.push(this.#runLane({ agent, lanes, ...rest, run }));
    }
  }

  /** Sends `callsPerPlane` calls through each data plane in a few lanes, after all faults. */
  async runSteadyLoad(agents: readonly ChaosAgent[], callsPerPlane: number): Promise<void> {
    const lane = async (plane: DataPlane, first: number): Promise<void> => {
      const connections = new Agent({ keepAlive: true, maxSockets: 1, timeout: IDLE_CONNECTION_MS });
      for (let call = first; call < callsPerPlane; call += STEADY_LANES) {
        const agent = agents[call % agents.length]!;
        const { callFactory: factory } = this;
        const made =
          call % 4 < 2 ? factory.chat(agent, plane, call % 8 < 4, 'steady') : factory.echo(agent, plane, 'steady');
        this.calls.push(await sendHttpCall(made, connections, this.#secrets));
      }
      connections.destroy();
    };
    const lanes = this.#planes.flatMap((plane) => Array.from({ length: STEADY_LANES }, (_, i) => lane(plane, i)));
    await Promise.all(lanes);
  }

  /** Starts no new calls; resolves when those in flight have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#lanes);
  }

  async #runLane({
    pauseMs,
    failedPauseMs = PAUSE_AFTER_FAILURE_MS,
    calls = Number.POSITIVE_INFINITY,
    run,
  }: LaneOptions): Promise<void> {
    const connections = new Agent({ keepAlive: true, maxSockets: 1, timeout: IDLE_CONNECTION_MS });
    const send: Send = (call) => sendHttpCall(call, connections, this.#secrets);
    for (let made = 0; made < calls && !this.#stopped; made++) {
      const plane = this.#planes[Math.floor(Math.random() * this.#planes.length)]!;
      this.#inflight++;
      const trace = await run(this.callFactory, plane, send);
      this.#inflight--;
      this.calls.push(trace);
      const failed = trace.status === null || trace.status >= 400;
      const ms = (failed ? failedPauseMs : pauseMs) * (0.5 + Math.random());
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
    connections.destroy();
  }
}

function planLanes(agent: ChaosAgent, secrets: SecretScanner): LaneOptions[] {
  const lane = (lanes: number, pauseMs: number, run: Lane): LaneOptions => ({ agent, lanes, pauseMs, run });
  const chat: Lane = (factory, plane, send) => send(factory.chat(agent, plane, false));
  const stream: Lane = (factory, plane, send) => send(factory.chat(agent, plane, true));
  if (agent.hardBudget) return [lane(2, 150, chat), lane(2, 150, stream)];
  if (agent.rpmLimit !== null) return [lane(3, 400, chat)];
  if (agent.tpmLimit !== null) return [lane(1, 300, chat), lane(1, 300, stream)];
  if (agent.budgetNanos !== null) return [lane(1, 300, chat), lane(1, 300, stream)];
  return [
    lane(3, 150, chat),
    lane(4, 200, stream),
    lane(2, 250, (factory, plane, send) => send(factory.upload(agent, plane))),
    lane(2, 250, putThenDeleteLane(agent)),
    lane(1, 250, (factory, plane, send) => send(factory.echo(agent, plane))),
    lane(3, 300, (factory, plane) => {
      const id = factory.nextId();
      const url = `${plane.url.replace('http', 'ws')}${factory.webSocketPath(agent, id)}`;
      const messages = 1 + Math.floor(Math.random() * SOCKET_MESSAGES_MAX);
      const { token } = agent;
      return sendWebSocketCall({ id, agent: agent.agent, plane: plane.target.victim, url, token, messages }, secrets);
    }),
  ];
}

/** Puts an object, then deletes it. */
function putThenDeleteLane(agent: ChaosAgent): Lane {
  const put: string[] = [];
  return async (factory, plane, send) => {
    const trace = await send(factory.s3(agent, plane, put.pop() ?? null));
    if (trace.status === 200 && trace.complete) put.push(trace.id);
    return trace;
  };
}
